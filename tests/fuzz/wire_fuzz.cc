// What comes from peers: messages of the control channel, and the answers and frames of transports.
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/socket.h>
#include <unistd.h>

#include "engine/notification.h"
#include "engine/staging_messages.h"
#include "engine/wire.h"
#include "transport/shm/grants.h"
#include "transport/shm/wire.h"
#include "transport/tcp/frame_reader.h"
#include "transport/tcp/wire.h"

#include <nlohmann/json.hpp>

namespace {

void readMessage(std::string_view text) {
  using namespace tent;
  const auto message = parseMessage(text);
  if (!message) return;
  static_cast<void>(descriptionOf(*message));
  static_cast<void>(notificationOf(*message));
  static_cast<void>(instanceOf(*message));
  static_cast<void>(answerIn(*message));
  static_cast<void>(stageOpenOf(*message));
  static_cast<void>(stageCopyOf(*message));
  static_cast<void>(lentBuffersOf(*message, StageOpen{4096, 2}));
  static_cast<void>(wantedBackIn(*message, StageCopy{1, 0, 0, 1, Direction::kRead}));
  static_cast<void>(errorOf(*message));
}

// Takes what frames announce into memory of its own, as long as it is little.
class Taker final : public tent::tcp::FrameReader::Handler {
 public:
  bool takeEntries(std::span<const std::byte> entries, uint64_t payload_bytes,
                   std::vector<tent::tcp::InPiece>& pieces) override {
    if (payload_bytes > memory_.size()) return false;
    if (payload_bytes > 0) pieces.push_back({entries.size() % 2 == 0 ? memory_.data() : nullptr, payload_bytes});
    return true;
  }
  void endPieces(size_t /*count*/) override {}
  bool mayContinue() override { return true; }

 private:
  std::vector<std::byte> memory_ = std::vector<std::byte>(4096);
};

template <typename Entry>
void readFrames(const uint8_t* data, size_t size) {
  using namespace tent::tcp;
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) != 0) return;
  if (write(ends[0], data, size) == static_cast<ssize_t>(size)) {
    shutdown(ends[0], SHUT_WR);
    Taker taker;
    FrameReader reader(taker, sizeof(Entry), FrameReader::kStagedBytes);
    uint64_t bytes = 0;
    while (reader.read(ends[1], bytes) == FrameReader::Result::kMore) {
    }
  }
  close(ends[0]);
  close(ends[1]);
}

// Messages of a frame's size, and what is left of the bytes as one of another size.
void readShmFrames(const uint8_t* data, size_t size) {
  using namespace tent::shm;
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends) != 0) return;
  while (size > 0) {
    const size_t step = size < sizeof(Frame) ? size : sizeof(Frame);
    if (write(ends[0], data, step) != static_cast<ssize_t>(step)) break;
    data += step;
    size -= step;
    Received received = receiveFrame(ends[1]);
    if (received.kind != Received::Kind::kFrame) break;
    static_cast<void>(termsOf(received.frame, std::move(received.passed), received.passed_lost));
  }
  close(ends[0]);
  close(ends[1]);
}

// What was understood is understood again, and alike, when it is said.
void readOpening(std::string_view text) {
  using namespace tent::tcp;
  if (const auto offer = parseOffer(text)) {
    const auto again = parseOffer(textOf(*offer));
    if (!again || again->streams != offer->streams || again->encrypted != offer->encrypted) __builtin_trap();
  }
  if (const auto answer = parseAnswer(text)) {
    const auto again = parseAnswer(textOf(*answer));
    if (!again || again->port != answer->port || again->key != answer->key || again->tickets != answer->tickets) {
      __builtin_trap();
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  switch (data[0] % 6) {
    case 0: readMessage(text); break;
    case 1: static_cast<void>(tent::shm::parseAnswer(text)); break;
    case 2: readFrames<tent::tcp::RequestEntry>(data + 1, size - 1); break;
    case 3: readFrames<tent::tcp::ResponseEntry>(data + 1, size - 1); break;
    case 4: readOpening(text); break;
    default: readShmFrames(data + 1, size - 1); break;
  }
  return 0;
}
