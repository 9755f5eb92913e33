#include "transport/tcp/wire.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/text.h"

namespace tent::tcp {
namespace {

constexpr std::string_view kAnswerTag = "tcp1";
constexpr std::string_view kEncrypted = " encrypted";

std::string_view nextWord(std::string_view& text) {
  const size_t space = text.find(' ');
  const std::string_view word = text.substr(0, space);
  text = space == std::string_view::npos ? std::string_view() : text.substr(space + 1);
  return word;
}

}  // namespace

uint32_t statusOf(Reason reason) {
  switch (reason) {
    case Reason::kNone: return 0;
    case Reason::kOutOfRange: return 1;
    case Reason::kPermissionDenied: return 2;
    default: return 3;
  }
}

std::optional<Reason> reasonOfStatus(uint32_t status) {
  switch (status) {
    case 0: return Reason::kNone;
    case 1: return Reason::kOutOfRange;
    case 2: return Reason::kPermissionDenied;
    case 3: return Reason::kInternal;
    default: return std::nullopt;
  }
}

std::string_view describeRefusal(Reason reason) {
  switch (reason) {
    case Reason::kOutOfRange: return "the target says: no memory that is registered, and mapped, holds the range";
    case Reason::kPermissionDenied: return "the target says: peers, or its process itself, may not use this memory so";
    default: return "the target failed";
  }
}

std::string textOf(const Offer& offer) {
  return fmt::format("{}{}", offer.streams, offer.encrypted ? kEncrypted : "");
}

std::optional<Offer> parseOffer(std::string_view text) {
  Offer offer;
  offer.encrypted = text.ends_with(kEncrypted);
  if (offer.encrypted) text.remove_suffix(kEncrypted.size());
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), offer.streams);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (offer.streams == 0 || offer.streams > kMaxStreams) return std::nullopt;
  return offer;
}

std::string textOf(const Answer& answer) {
  std::string text = fmt::format("{} {}", kAnswerTag, answer.port);
  if (answer.key) {
    text += ' ';
    text += toHex(std::string_view(reinterpret_cast<const char*>(answer.key->data()), answer.key->size()));
  }
  for (const Ticket& ticket : answer.tickets) {
    text += ' ';
    text += toHex(ticket);
  }
  return text;
}

std::optional<Answer> parseAnswer(std::string_view text) {
  if (text.ends_with(' ') || nextWord(text) != kAnswerTag) return std::nullopt;
  Answer answer;
  const std::string_view port = nextWord(text);
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), answer.port);
  if (error != std::errc() || end != port.data() + port.size() || answer.port == 0) return std::nullopt;
  while (!text.empty()) {
    const std::string_view word = nextWord(text);
    // Of another length than a ticket.
    if (word.size() == 2 * sizeof(TlsKey) && !answer.key && answer.tickets.empty()) {
      const std::optional<std::string> bytes = fromHex(word);
      if (!bytes) return std::nullopt;
      std::copy(bytes->begin(), bytes->end(), answer.key.emplace().begin());
      continue;
    }
    const std::optional<Ticket> ticket = ticketOfHex(word);
    if (!ticket || answer.tickets.size() == kMaxStreams) return std::nullopt;
    answer.tickets.push_back(*ticket);
  }
  if (answer.tickets.empty()) return std::nullopt;
  return answer;
}

}  // namespace tent::tcp
