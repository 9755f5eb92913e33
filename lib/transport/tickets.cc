#include "transport/tickets.h"

#include <cstring>

#include "base/random.h"
#include "base/text.h"

namespace tent {
namespace {

// Without a branch on what is compared.
bool equal(const Ticket& a, const Ticket& b) {
  unsigned char difference = 0;
  for (size_t i = 0; i < a.size(); ++i) difference = static_cast<unsigned char>(difference | (a[i] ^ b[i]));
  return difference == 0;
}

}  // namespace

std::string toHex(const Ticket& ticket) {
  return toHex(std::string_view(reinterpret_cast<const char*>(ticket.data()), ticket.size()));
}

std::optional<Ticket> ticketOfHex(std::string_view hex) {
  Ticket ticket{};
  const std::optional<std::string> bytes = fromHex(hex);
  if (!bytes || bytes->size() != ticket.size()) return std::nullopt;
  std::memcpy(ticket.data(), bytes->data(), ticket.size());
  if (toHex(ticket) != hex) return std::nullopt;  // other digits for the same number
  return ticket;
}

Ticket TicketBook::issue(uint64_t now_ns) {
  const Ticket ticket = randomValue<Ticket>();
  const std::lock_guard lock(mutex_);
  dropExpiredLocked(now_ns);
  if (issued_.size() == kMaxTickets) issued_.pop_front();
  issued_.push_back({ticket, now_ns + life_ns_});
  return ticket;
}

bool TicketBook::redeem(const Ticket& shown, uint64_t now_ns) {
  const std::lock_guard lock(mutex_);
  dropExpiredLocked(now_ns);
  size_t found = issued_.size();
  for (size_t i = 0; i < issued_.size(); ++i) {
    if (equal(issued_[i].ticket, shown)) found = i;
  }
  if (found == issued_.size()) return false;
  issued_.erase(issued_.begin() + static_cast<std::ptrdiff_t>(found));
  return true;
}

void TicketBook::clear() {
  const std::lock_guard lock(mutex_);
  issued_.clear();
}

void TicketBook::dropExpiredLocked(uint64_t now_ns) {
  while (!issued_.empty() && issued_.front().until_ns <= now_ns) issued_.pop_front();
}

}  // namespace tent
