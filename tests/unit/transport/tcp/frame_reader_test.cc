#include "transport/tcp/frame_reader.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <sys/socket.h>

#include "base/fd.h"
#include "support/replaced_calls.h"

namespace tent::tcp {
namespace {

// Takes frames whose entries are the lengths of their pieces; pieces of odd length are dropped.
struct Taker : FrameReader::Handler {
  bool takeEntries(std::span<const std::byte> entries, uint64_t payload_bytes, std::vector<InPiece>& pieces) override {
    ++frames;
    uint64_t sum = 0;
    for (size_t at = 0; at < entries.size(); at += sizeof(uint64_t)) {
      uint64_t length = 0;
      std::memcpy(&length, entries.data() + at, sizeof length);
      sum += length;
      pieces.push_back({length % 2 == 0 ? taken.data() + used : nullptr, length});
      if (length % 2 == 0) used += length;
    }
    return sum == payload_bytes;
  }
  void endPieces(size_t count) override { ended += count; }
  bool mayContinue() override { return may_continue; }

  std::vector<char> bytes() const {
    std::vector<char> result(used);
    std::memcpy(result.data(), taken.data(), used);
    return result;
  }

  std::vector<std::byte> taken = std::vector<std::byte>(1u << 20);
  size_t used = 0;
  size_t ended = 0;
  int frames = 0;
  bool may_continue = true;
};

std::string frameOf(std::vector<uint64_t> lengths, char fill) {
  Head head;
  head.entries = static_cast<uint32_t>(lengths.size());
  for (const uint64_t length : lengths) head.payload_bytes += length;
  std::string text(reinterpret_cast<const char*>(&head), sizeof head);
  text.append(reinterpret_cast<const char*>(lengths.data()), lengths.size() * sizeof(uint64_t));
  return text + std::string(head.payload_bytes, fill);
}

struct Pair {
  Pair() {
    int both[2];
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, both) == 0);
    here.reset(both[0]);
    there.reset(both[1]);
  }
  void send(const std::string& text) const {
    REQUIRE(::send(there.get(), text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size()));
  }
  Fd here, there;
};

FrameReader::Result readAll(FrameReader& reader, const Pair& pair) {
  uint64_t bytes = 0;
  FrameReader::Result result = FrameReader::Result::kMore;
  while (result == FrameReader::Result::kMore) result = reader.read(pair.here.get(), bytes);
  return result;
}

int received = 0;
// Of what was received, in places that the taker gave.
uint64_t received_in_place = 0;
const Taker* watched = nullptr;

constexpr size_t kFar = FrameReader::kStagedBytes;
constexpr size_t kNear = sizeof(Head) + sizeof(uint64_t);

}  // namespace

TEST_CASE("frames are the same frames whether they come at once, or byte by byte") {
  const std::string text = frameOf({10, 7, 20'000}, 'a') + frameOf({2}, 'b') + frameOf({70'001, 4}, 'c') +
                           frameOf(std::vector<uint64_t>(kMaxEntries, 2), 'd');
  for (const auto& [step, ahead] : std::vector<std::pair<size_t, size_t>>{
           {text.size(), kFar}, {1, kFar}, {1000, kFar}, {text.size(), kNear}, {1, kNear}, {1000, kNear}}) {
    CAPTURE(step);
    CAPTURE(ahead);
    Taker taker;
    FrameReader reader(taker, sizeof(uint64_t), ahead);
    const Pair pair;
    for (size_t at = 0; at < text.size(); at += step) {
      pair.send(text.substr(at, step));
      CHECK(readAll(reader, pair) == FrameReader::Result::kBlocked);
    }
    CHECK(taker.frames == 4);
    CHECK(taker.ended == 3 + 1 + 2 + kMaxEntries);
    std::string expected = std::string(20'010, 'a') + "bb" + "cccc" + std::string(2 * kMaxEntries, 'd');
    const std::vector<char> got = taker.bytes();
    CHECK(std::string(got.begin(), got.end()) == expected);
  }
}

TEST_CASE("a small frame takes one call") {
  const ReplacedCalls replaced;
  received = 0;
  systemCalls().recvmsg = [](int fd, msghdr* message, int flags) {
    ++received;
    return ::recvmsg(fd, message, flags);
  };
  Taker taker;
  FrameReader reader(taker, sizeof(uint64_t), kFar);
  const Pair pair;
  pair.send(frameOf({4096}, 'a'));
  CHECK(readAll(reader, pair) == FrameReader::Result::kBlocked);
  CHECK(taker.ended == 1);
  CHECK(received == 1);
}

TEST_CASE("a reader that may not copy puts every byte of a payload straight in its place") {
  const ReplacedCalls replaced;
  Taker taker;
  watched = &taker;
  received_in_place = 0;
  systemCalls().recvmsg = [](int fd, msghdr* message, int flags) {
    const ssize_t got = ::recvmsg(fd, message, flags);
    auto left = static_cast<uint64_t>(std::max<ssize_t>(got, 0));
    for (size_t i = 0; i < message->msg_iovlen && left > 0; ++i) {
      const iovec& piece = message->msg_iov[i];
      const uint64_t filled = std::min<uint64_t>(left, piece.iov_len);
      const auto* data = static_cast<const std::byte*>(piece.iov_base);
      if (data >= watched->taken.data() && data < watched->taken.data() + watched->taken.size())
        received_in_place += filled;
      left -= filled;
    }
    return got;
  };
  FrameReader reader(taker, sizeof(uint64_t), kNear);
  const Pair pair;
  pair.send(frameOf({4096}, 'a') + frameOf({2, 2, 30'000}, 'b') + frameOf({4096}, 'c'));
  CHECK(readAll(reader, pair) == FrameReader::Result::kBlocked);
  CHECK(taker.ended == 5);
  CHECK(received_in_place == taker.used);
}

TEST_CASE("a pause holds up the next frame, and loses nothing") {
  Taker taker;
  FrameReader reader(taker, sizeof(uint64_t), kFar);
  const Pair pair;
  taker.may_continue = false;
  pair.send(frameOf({4}, 'a') + frameOf({6}, 'b'));
  CHECK(readAll(reader, pair) == FrameReader::Result::kPaused);
  CHECK(readAll(reader, pair) == FrameReader::Result::kPaused);
  CHECK(taker.frames == 0);
  taker.may_continue = true;
  CHECK(readAll(reader, pair) == FrameReader::Result::kBlocked);
  CHECK(taker.ended == 2);
}

TEST_CASE("a frame that makes no sense is refused before its entries have come") {
  for (const Head& head :
       {Head{1, 1, 0}, Head{kMagic, 0, 0}, Head{kMagic, kMaxEntries + 1, 0}, Head{kMagic, UINT32_MAX, UINT64_MAX}}) {
    Taker taker;
    FrameReader reader(taker, sizeof(uint64_t), kFar);
    const Pair pair;
    pair.send(std::string(reinterpret_cast<const char*>(&head), sizeof head));
    CHECK(readAll(reader, pair) == FrameReader::Result::kNonsense);
    CHECK(taker.frames == 0);
  }
}

TEST_CASE("the end and a failure of the socket are told apart") {
  Taker taker;
  FrameReader reader(taker, sizeof(uint64_t), kFar);
  Pair pair;
  pair.there.reset();
  CHECK(readAll(reader, pair) == FrameReader::Result::kEnded);
  const ReplacedCalls replaced;
  systemCalls().recvmsg = [](int, msghdr*, int) -> ssize_t { return errno = ECONNRESET, -1; };
  CHECK(readAll(reader, pair) == FrameReader::Result::kFailed);
}

}  // namespace tent::tcp
