// Notifications as peers send them: the bytes of name and message in hex, since JSON holds no bytes.
//
// Thread safety: pure functions.
#pragma once

#include <string>

#include <tl/expected.hpp>

#include "base/error.h"
#include "engine/engine.h"
#include "engine/wire.h"

namespace tent {

struct SentNotification {
  std::string from;  // the sender's address
  Notification notification;
};

// notification_too_long: the name or the message is.
Error checkNotification(const Notification& notification);

// A request of the control channel. The name and the message fit.
Message notifyMessage(const std::string& from, const std::string& name, const std::string& message);
// io_error: it is none; notification_too_long.
tl::expected<SentNotification, Error> notificationOf(const Message& message);

}  // namespace tent
