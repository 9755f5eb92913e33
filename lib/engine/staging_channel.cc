#include "engine/staging_channel.h"

#include <utility>

#include <asio/post.hpp>
#include <nlohmann/json.hpp>

#include "engine/peer.h"

namespace tent {
namespace {

// What a peer's copy may take at worst, beside the exchange itself: others have their turns in between.
constexpr uint64_t kCopyNsPerKib = 10'000;  // a tenth of a GiB in a second

}  // namespace

void StagingChannel::ask(const StageOpen& wanted, uint64_t instance, const std::string& peer_name,
                         std::function<void(Error)> done) {
  asked_ = true;
  client_->exchange(messageOf(wanted), timeout_ns_ + wait_ns_,
                    [weak = weak_from_this(), &loop = loop_, wanted, instance, peer_name,
                     done = std::move(done)](tl::expected<Message, Error> answer) {
                      asio::post(loop.context(), [weak, wanted, instance, peer_name, done, answer = std::move(answer)] {
                        const auto self = weak.lock();
                        if (self != nullptr) done(self->taken(answer, wanted, instance, peer_name));
                      });
                    });
}

Error StagingChannel::taken(const tl::expected<Message, Error>& answer, const StageOpen& wanted, uint64_t instance,
                            const std::string& peer_name) {
  asked_ = false;
  if (!answer) return answer.error();
  if (instanceOf(*answer) != instance) return staleSegment(peer_name);
  auto lent = lentBuffersOf(*answer, wanted);
  if (!lent) return std::move(lent.error());
  lent_ = std::make_shared<const LentBuffers>(*std::move(lent));
  must_return_ = false;
  free_.clear();
  for (uint64_t i = lent_->count; i > 0; --i) free_.push_back((i - 1) * wanted.chunk_bytes);
  return {};
}

void StagingChannel::giveBack() {
  client_->exchange(stageClose(lent_->lease), timeout_ns_, [](const tl::expected<Message, Error>& /*none needed*/) {});
  lent_ = nullptr;
}

std::optional<uint64_t> StagingChannel::take() {
  if (free_.empty()) return std::nullopt;
  const uint64_t offset = free_.back();
  free_.pop_back();
  return offset;
}

void StagingChannel::putBack(const std::shared_ptr<const LentBuffers>& of, uint64_t offset) {
  if (of == lent_) free_.push_back(offset);
}

void StagingChannel::copy(const StageCopy& copy, std::function<void(Error)> done) {
  client_->exchange(
      messageOf(copy), timeout_ns_ + copy.length / 1024 * kCopyNsPerKib,
      [weak = weak_from_this(), &loop = loop_, copy, done = std::move(done)](tl::expected<Message, Error> answer) {
        asio::post(loop.context(), [weak, copy, done, answer = std::move(answer)] {
          const auto self = weak.lock();
          if (self != nullptr) done(self->copied(answer, copy));
        });
      });
}

Error StagingChannel::copied(const tl::expected<Message, Error>& answer, const StageCopy& copy) {
  const auto wanted_back = answer ? wantedBackIn(*answer, copy) : tl::unexpected(answer.error());
  if (!wanted_back) {
    if (!isRefusal(wanted_back.error())) must_return_ = true;
    return wanted_back.error();
  }
  if (*wanted_back) must_return_ = true;
  return {};
}

bool StagingChannel::isRefusal(const Error& error) {
  return error.reason == Reason::kOutOfRange || error.reason == Reason::kPermissionDenied;
}

}  // namespace tent
