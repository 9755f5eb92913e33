// Notifications: sent by themselves, or behind the tasks of a submit.
#include <nlohmann/json.hpp>

#include "engine/engine_impl.h"
#include "engine/notification.h"

namespace tent {
namespace {

// What a receiver keeps for an application that does not ask: up to 70 MiB.
constexpr size_t kNotificationsMax = 16384;

}  // namespace

Error Engine::Impl::sendNotification(SegmentId segment, const Notification& notification) {
  if (Error error = checkNotification(notification)) return error;
  auto peer = peerOf(segment);
  if (!peer) return std::move(peer.error());
  auto answer = ask(**peer, notifyMessage(address_, notification.name, notification.message));
  return answer ? Error{} : std::move(answer.error());
}

std::vector<Notification> Engine::Impl::receiveNotifications() {
  std::vector<Notification> arrived;
  const std::lock_guard lock(notifications_mutex_);
  arrived.swap(notifications_);
  return arrived;
}

Error Engine::Impl::takeNotification(std::string_view from, Notification notification) {
  {
    const std::shared_lock lock(segments_mutex_);
    const auto it = segment_ids_.find(std::string(from));
    if (it != segment_ids_.end()) notification.sender = it->second;
  }
  const std::lock_guard lock(notifications_mutex_);
  if (notifications_.size() >= kNotificationsMax) {
    return {Reason::kResourceExhausted,
            Field::kNotification,
            -1,
            {},
            "the peer's application has not received the notifications that it was sent before"};
  }
  notifications_.push_back(std::move(notification));
  return {};
}

void Engine::Impl::notify(const std::shared_ptr<Notice>& notice) {
  if (notice->failed.load(std::memory_order_acquire) || notice->targets.empty()) return Batch::end(*notice, true);
  const Message request = notifyMessage(address_, notice->name, notice->message);
  notice->answers_left.store(notice->targets.size(), std::memory_order_relaxed);
  // The last answer lets go of the targets.
  const std::vector<std::shared_ptr<Peer>> targets = notice->targets;
  for (const std::shared_ptr<Peer>& peer : targets) {
    const auto answered = [notice, name = peer.get()](const tl::expected<Message, Error>& answer) {
      const bool taken = answer && name->view()->description.instance == instanceOf(*answer);
      if (!taken) notice->failed.store(true, std::memory_order_relaxed);
      if (notice->answers_left.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
      Batch::end(*notice, !notice->failed.load(std::memory_order_relaxed));
    };
    peer->client().exchange(request, options_.control_timeout_ns, answered);
  }
}

}  // namespace tent
