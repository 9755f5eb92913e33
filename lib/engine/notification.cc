#include "engine/notification.h"

#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.h"

namespace tent {
namespace {

const std::string* textOf(const Message& message, const char* key) {
  const auto it = message.find(key);
  return it == message.end() ? nullptr : it->get_ptr<const std::string*>();
}

}  // namespace

Error checkNotification(const Notification& notification) {
  const auto too_long = [](const char* what, size_t size) {
    return Error{Reason::kNotificationTooLong, Field::kNotification, -1, uint64_t{size},
                 fmt::format("its {} has more", what)};
  };
  if (notification.name.size() > Notification::kNameMax) {
    return too_long("name", notification.name.size());
  }
  if (notification.message.size() > Notification::kMessageMax) {
    return too_long("message", notification.message.size());
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
