// Tickets: what lets one connection of an initiator in at a target. A target gives them out in its answers, which reach
// authenticated peers only; whoever shows one is let in, so a ticket is as secret as the answer that carries it.
//
// Invariants
//  1. A ticket is 128 bits of the kernel's random numbers; it is good once, and for a limited time.
//  2. How long a lookup takes does not depend on what was shown: every ticket is compared whole.
//  3. There are at most kMaxTickets. One more takes the place of the oldest, so that a peer that asks for tickets and
//     uses none cannot keep the others from getting theirs.
//
// Thread safety: all members may be called from any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace tent {

using Ticket = std::array<unsigned char, 16>;

// 32 hexadecimal digits, lower case.
std::string toHex(const Ticket& ticket);
// Nothing when it is something else.
std::optional<Ticket> ticketOfHex(std::string_view hex);

class TicketBook {
 public:
  static constexpr size_t kMaxTickets = 4096;

  // `life_ns`: from when a ticket is given out until it is no longer good.
  explicit TicketBook(uint64_t life_ns) : life_ns_(life_ns) {}

  // `now_ns` is the monotonic clock's, here and below.
  Ticket issue(uint64_t now_ns);
  // Whether the ticket is good; it is not any more afterwards.
  bool redeem(const Ticket& shown, uint64_t now_ns);
  // No ticket that was given out before is good any more.
  void clear();

 private:
  struct Issued {
    Ticket ticket;
    uint64_t until_ns;
  };

  void dropExpiredLocked(uint64_t now_ns);

  const uint64_t life_ns_;
  std::mutex mutex_;
  std::deque<Issued> issued_;  // the oldest first
};

}  // namespace tent
