#include <atomic>
#include <cstring>
#include <string>
#include <vector>

#include "support/open_sockets.h"
#include "support/replaced_calls.h"
#include "unit/transport/tcp/raw_target.h"

namespace tent {
namespace {

constexpr uint64_t kMiB = 1u << 20;

Error byTheTest() {
  return errorOf(Reason::kTimeout, "by the test");
}

// A link to a target that the test plays; ready.
struct RawLink {
  explicit RawLink(TwoEnds& ends) : link(ends.initiator->connect(target.answer(), "127.0.0.1", recorder).value()) {
    fd = target.welcome();
    REQUIRE_FALSE(link->waitReady(kWatchdogNs));
  }
  RawTarget target;
  std::shared_ptr<Recorder> recorder = std::make_shared<Recorder>();
  std::unique_ptr<Link> link;
  Fd fd;
};

// Of the call that sends, held up until the answer to what it sent was taken.
std::atomic<Loop*> initiator_loop{nullptr};
std::atomic<bool> answer_came{false};

}  // namespace

TEST_CASE("transfers of any size arrive") {
  TwoEnds ends({}, 64 * kMiB);
  uint64_t token = 0;
  for (const uint64_t size : {uint64_t{1}, uint64_t{2}, uint64_t{4095}, uint64_t{4096}, uint64_t{16'335},
                              uint64_t{16'337}, uint64_t{65'537}, 4 * kMiB - 1, 4 * kMiB, 4 * kMiB + 1, 64 * kMiB}) {
    CAPTURE(size);
    const int seed = static_cast<int>(++token);
    std::memset(ends.local.data(), seed, size);
    CHECK(ends.run(ends.transfer(Direction::kWrite, 2 * token, 0, size)).reason == Reason::kNone);
    CHECK(std::memcmp(ends.local.data(), ends.remote.data(), size) == 0);
    std::memset(ends.remote.data(), seed + 100, size);
    CHECK(ends.run(ends.transfer(Direction::kRead, 2 * token + 1, 0, size)).reason == Reason::kNone);
    CHECK(std::memcmp(ends.local.data(), ends.remote.data(), size) == 0);
  }
}

TEST_CASE("thousands of transfers may be submitted at once") {
  for (const uint32_t streams : {1u, 3u}) {
    TcpOptions options;
    options.streams = streams;
    TwoEnds ends(options);
    for (size_t i = 0; i < ends.local.size(); ++i) ends.local[i] = static_cast<std::byte>(i * 31 >> 3);
    std::vector<Transfer> many;
    for (uint64_t i = 0; i < 5000; ++i) many.push_back(ends.transfer(Direction::kWrite, i, i * 100, 100));
    ends.link->submit(many);
    for (const Transfer& transfer : many) CHECK(ends.recorder->of(transfer.token).reason == Reason::kNone);
    CHECK(std::memcmp(ends.local.data(), ends.remote.data(), 500'000) == 0);
    CHECK(ends.initiator->traffic().written_bytes == 500'000);
    CHECK(ends.target->traffic().served_written_bytes == 500'000);
  }
}

TEST_CASE("a transfer is done as soon as its bytes are there, whatever comes behind it in its frame") {
  TwoEnds ends;
  const Fd fd = welcomed(*ends.target);
  const auto address = reinterpret_cast<uintptr_t>(ends.remote.data());
  sendValue(fd, tcp::Head{tcp::kMagic, 3, 1010});
  sendValue(fd, tcp::RequestEntry{1, address, 10, tcp::RequestEntry::kWrite, 0});
  sendValue(fd, tcp::RequestEntry{2, address, 1000, tcp::RequestEntry::kWrite, 0});
  sendValue(fd, tcp::RequestEntry{3, address + ends.remote.size(), 1, tcp::RequestEntry::kRead, 0});
  const auto answered = [&](uint64_t id, uint32_t status) {
    tcp::Head head;
    tcp::ResponseEntry entry;
    REQUIRE(receiveValue(fd, head));
    CHECK(head.entries == 1);
    REQUIRE(receiveValue(fd, entry));
    CHECK(entry.id == id);
    CHECK(entry.status == status);
  };
  answered(3, 1);
  sendValue(fd, std::array<char, 10>{});
  answered(1, 0);
  sendValue(fd, std::array<char, 1000>{});
  answered(2, 0);
}

TEST_CASE("a write that is answered before the call that sent it has returned is done when it has") {
  const ReplacedCalls replaced;
  systemCalls().recvmsg = [](int fd, msghdr* message, int flags) {
    const ssize_t got = ::recvmsg(fd, message, flags);
    Loop* const loop = initiator_loop;
    if (got <= 0 || loop == nullptr || !loop->inLoop()) return got;
    answer_came = true;
    answer_came.notify_all();
    return got;
  };
  systemCalls().sendmsg = [](int fd, const msghdr* message, int flags) {
    const ssize_t sent = ::sendmsg(fd, message, flags);
    Loop* const loop = initiator_loop;
    const bool request = message->msg_iov[0].iov_len == sizeof(tcp::Head) + sizeof(tcp::RequestEntry);
    if (loop == nullptr || !request) return sent;
    answer_came.wait(false);
    loop->run([] {});  // behind the handler that takes it
    initiator_loop = nullptr;
    return sent;
  };
  TwoEnds ends;
  REQUIRE_FALSE(ends.link->waitReady(kWatchdogNs));
  answer_came = false;
  initiator_loop = &ends.initiator_loop;
  ends.local[7] = std::byte{9};
  CHECK(ends.run(ends.transfer(Direction::kWrite, 1, 0, 4096)).reason == Reason::kNone);
  CHECK(ends.remote[7] == std::byte{9});
  CHECK(ends.initiator->traffic().written_bytes == 4096);
}

TEST_CASE("an answer to a write whose bytes have not gone is nonsense, and ends the link") {
  TwoEnds ends({}, 64 * kMiB);
  const RawLink raw(ends);
  const Transfer write = ends.transfer(Direction::kWrite, 1, 0, 64 * kMiB);
  raw.link->submit({&write, 1});
  tcp::Head head;
  tcp::RequestEntry request;
  REQUIRE(receiveValue(raw.fd, head));
  REQUIRE(receiveValue(raw.fd, request));
  sendValue(raw.fd, tcp::Head{tcp::kMagic, 1, 0});
  sendValue(raw.fd, tcp::ResponseEntry{request.id, 0, 0, 0});
  const Completion completion = raw.recorder->of(1);
  CHECK(completion.reason == Reason::kIoError);
  CHECK(completion.aftermath == Aftermath::kUnsettled);
  CHECK(raw.recorder->end().reason == Reason::kIoError);
}

TEST_CASE("when a peer stands still, only what was partly sent is unsettled") {
  TcpOptions options;
  options.stall_timeout_ns = 50'000'000;
  TwoEnds ends(options, 64 * kMiB);
  const RawLink raw(ends);
  std::vector<Transfer> many;
  for (uint64_t i = 0; i < 64; ++i) many.push_back(ends.transfer(Direction::kWrite, i, i * kMiB, kMiB));
  raw.link->submit(many);
  CHECK(raw.link->cancel(63));
  CHECK_FALSE(raw.link->cancel(0));
  CHECK(raw.recorder->end().reason == Reason::kPeerLost);
  REQUIRE(raw.recorder->count() == 64);
  bool untouched = false;
  for (uint64_t i = 0; i < 63; ++i) {
    const Completion completion = raw.recorder->of(i);
    CHECK(completion.reason == Reason::kPeerLost);
    // They go in this order.
    untouched = untouched || completion.aftermath == Aftermath::kUntouched;
    CHECK(completion.aftermath == (untouched ? Aftermath::kUntouched : Aftermath::kUnsettled));
  }
  CHECK(raw.recorder->of(0).aftermath == Aftermath::kUnsettled);
  CHECK(raw.recorder->of(62).aftermath == Aftermath::kUntouched);
}

TEST_CASE("a link may be closed from within a report, and the end is told last") {
  struct Closer : Recorder {
    void completed(Completion completion) noexcept override {
      if (link != nullptr) std::exchange(link, nullptr)->close(byTheTest());
      if (!isOpen()) after_end = true;
      Recorder::completed(std::move(completion));
    }
    Link* link = nullptr;
    std::atomic<bool> after_end{false};
  };
  TwoEnds ends;
  for (int round = 0; round < 20; ++round) {
    const auto closer = std::make_shared<Closer>();
    const auto link = ends.initiator->connect(ends.target->answer("1").value(), "127.0.0.1", closer).value();
    REQUIRE_FALSE(link->waitReady(kWatchdogNs));
    closer->link = link.get();
    std::vector<Transfer> many;
    for (uint64_t i = 0; i < 100; ++i) many.push_back(ends.transfer(Direction::kRead, i, i * 1000, 1000));
    link->submit(many);
    CHECK(closer->end().reason == Reason::kTimeout);
    CHECK(closer->count() == 100);
    CHECK(closer->isConsistent());
    CHECK_FALSE(closer->after_end);
  }
}

TEST_CASE("what is submitted when nobody observes any more is dropped") {
  TwoEnds ends;
  auto recorder = std::make_shared<Recorder>();
  const auto link = ends.initiator->connect(ends.target->answer("1").value(), "127.0.0.1", recorder).value();
  link->close(byTheTest());
  const Transfer late = ends.transfer(Direction::kRead, 1, 0, 10);
  link->submit({&late, 1});
  CHECK(recorder->of(1).reason == Reason::kTimeout);
  recorder.reset();
  link->submit({&late, 1});
}

TEST_CASE("programs that the application starts inherit no socket") {
  const TwoEnds ends;
  REQUIRE_FALSE(ends.link->waitReady(kWatchdogNs));
  const OpenSockets sockets = openSockets();
  CHECK(sockets.inherited == 0);
  CHECK(sockets.count >= 4);
}

TEST_CASE("a host that is no numeric address is refused at once") {
  TwoEnds ends;
  const auto link =
      ends.initiator->connect(ends.target->answer("1").value(), "localhost", std::make_shared<Recorder>());
  REQUIRE_FALSE(link);
  CHECK(link.error().reason == Reason::kIoError);
}

TEST_CASE("a peer that hangs up before it has judged the ticket is unreachable, not one that refuses") {
  TwoEnds ends;
  const RawTarget target;
  const auto recorder = std::make_shared<Recorder>();
  const auto link = ends.initiator->connect(target.answer(), "127.0.0.1", recorder).value();
  target.accept();
  CHECK(link->waitReady(kWatchdogNs).reason == Reason::kPeerUnreachable);
}

TEST_CASE("a peer that speaks another version is an io_error") {
  TwoEnds ends;
  const RawTarget target;
  const auto recorder = std::make_shared<Recorder>();
  const auto link = ends.initiator->connect(target.answer(), "127.0.0.1", recorder).value();
  const Fd fd = target.accept();
  tcp::Welcome welcome;
  welcome.version = 2;
  sendValue(fd, welcome);
  CHECK(link->waitReady(kWatchdogNs).reason == Reason::kIoError);
}

}  // namespace tent
