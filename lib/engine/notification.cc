#include "engine/notification.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tent {
namespace {

std::string toHex(std::string_view bytes) {
  std::string hex;
  hex.reserve(2 * bytes.size());
  for (const char byte : bytes) fmt::format_to(std::back_inserter(hex), "{:02x}", static_cast<unsigned char>(byte));
  return hex;
}

std::optional<unsigned> digitOf(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
  return std::nullopt;
}

std::optional<std::string> fromHex(std::string_view hex) {
  if (hex.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  bytes.reserve(hex.size() / 2);
  for (size_t i = 0; i < hex.size(); i += 2) {
    const auto high = digitOf(hex[i]);
    const auto low = digitOf(hex[i + 1]);
    if (!high || !low) return std::nullopt;
    bytes.push_back(static_cast<char>(*high << 4 | *low));
  }
  return bytes;
}

const std::string* textOf(const Message& message, const char* key) {
  const auto it = message.find(key);
  return it == message.end() ? nullptr : it->get_ptr<const std::string*>();
}

}  // namespace

Error checkNotification(const Notification& notification) {
  const auto too_long = [](const char* what, size_t size, size_t most) {
    return Error{Reason::kNotificationTooLong, Field::kNotification, -1, uint64_t{size},
                 fmt::format("its {} may have {} bytes", what, most)};
  };
  if (notification.name.size() > Notification::kNameMax) {
    return too_long("name", notification.name.size(), Notification::kNameMax);
  }
  if (notification.message.size() > Notification::kMessageMax) {
    return too_long("message", notification.message.size(), Notification::kMessageMax);
  }
  return {};
}

Message notifyMessage(const std::string& from, const std::string& name, const std::string& message) {
  return {{"type", "notify"}, {"from", from}, {"name", toHex(name)}, {"message", toHex(message)}};
}

tl::expected<SentNotification, Error> notificationOf(const Message& message) {
  const std::string* from = textOf(message, "from");
  const std::string* name = textOf(message, "name");
  const std::string* text = textOf(message, "message");
  const auto name_bytes = name == nullptr ? std::nullopt : fromHex(*name);
  const auto text_bytes = text == nullptr ? std::nullopt : fromHex(*text);
  if (from == nullptr || !name_bytes || !text_bytes) {
    return tl::unexpected(
        Error{Reason::kIoError, Field::kNone, -1, {}, "a notification has a sender, a name and a message, in hex"});
  }
  SentNotification sent{*from, {*name_bytes, *text_bytes}};
  if (Error error = checkNotification(sent.notification)) return tl::unexpected(std::move(error));
  return sent;
}

}  // namespace tent
