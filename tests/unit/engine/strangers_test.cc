// What those can do who have no token: nothing that costs much, and nothing that others notice.
#include <atomic>
#include <filesystem>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>

#include <doctest/doctest.h>

#include "base/random.h"
#include "support/temporary_folder.h"
#include "transport/tls.h"
#include "unit/engine/strangers.h"
#include "unit/engine/target_process.h"
#include "unit/engine/two_engines.h"

namespace tent {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;

std::string withToken(const TemporaryFolder& folder) {
  return R"({"auth": {"token_file": ")" + folder.write("token", "0123456789abcdefghijklmnopqrstuvwxyz") + "\"}}";
}

// The first flight of a client with a random key.
std::string clientHello(const std::string& identity) {
  std::array<int, 2> fds{};
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds.data()) == 0);
  const Fd near(fds[0]);
  const Fd far(fds[1]);
  const TlsContext context(TlsContext::Role::kClient, randomValue<TlsKey>(), identity);
  TlsSession session(context, near.get());
  CHECK(session.handshake() == TlsStatus::kWantRead);
  std::string hello(4096, '\0');
  const ssize_t got = recv(far.get(), hello.data(), hello.size(), 0);
  hello.resize(static_cast<size_t>(got));
  return hello;
}

std::string randomBytes(size_t count) {
  std::string bytes(count, '\0');
  fillRandom(std::as_writable_bytes(std::span(bytes)));
  return bytes;
}

size_t descriptorsOf(pid_t pid) {
  const auto files = std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/fd");
  return static_cast<size_t>(std::distance(begin(files), end(files)));
}

// A peer with the token that moves bytes, and asks the control channel, for as long as it lives.
class BusyPeer {
 public:
  BusyPeer(const std::string& config, const TargetProcess& target)
      : engine_(makeEngine(config)), local_(4096), target_(target) {
    const auto opened = engine_->openSegment(target.address());
    REQUIRE(opened);
    segment_ = *opened;
    thread_ = std::thread([this] {
      while (!stop_) step();
    });
  }
  BusyPeer(const BusyPeer&) = delete;
  BusyPeer& operator=(const BusyPeer&) = delete;
  ~BusyPeer() { end(); }

  void end() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }
  Engine& engine() { return *engine_; }
  SegmentId segment() const { return segment_; }
  uint64_t done() const { return done_; }
  uint64_t failed() const { return failed_; }
  uint64_t slowestNs() const { return slowest_ns_; }

 private:
  void step() {
    const uint64_t began_ns = monotonicNowNs();
    const Request request = target_.request(Opcode::kWrite, segment_, local_, Transport::kTcp);
    const auto batch = engine_->allocateBatch(1);
    bool good = batch && engine_->submit(*batch, {&request, 1}, ValidationMode::kStrict) &&
                engine_->wait(*batch, kWatchdogNs).value_or(false) &&
                engine_->taskStatus(*batch, 0)->state == TaskState::kCompleted;
    if (batch) engine_->freeBatch(*batch);
    const std::vector<Engine::Range> ranges{{target_.base(), 4096}};
    good = good && engine_->checksums(segment_, ranges);
    (good ? done_ : failed_)++;
    const uint64_t took_ns = monotonicNowNs() - began_ns;
    if (took_ns > slowest_ns_) slowest_ns_ = took_ns;
  }

  std::unique_ptr<Engine> engine_;
  std::vector<std::byte> local_;
  const TargetProcess& target_;
  SegmentId segment_ = 0;
  std::atomic<bool> stop_{false};
  std::atomic<uint64_t> done_{0};
  std::atomic<uint64_t> failed_{0};
  std::atomic<uint64_t> slowest_ns_{0};
  std::thread thread_;
};

void awaitDone(const BusyPeer& busy, uint64_t more) {
  const uint64_t goal = busy.done() + more;
  const uint64_t until_ns = monotonicNowNs() + kWatchdogNs;
  while (busy.done() < goal && monotonicNowNs() < until_ns) std::this_thread::yield();
  REQUIRE(busy.done() >= goal);
}

}  // namespace

TEST_CASE("a flood of connections that say nothing disturbs no peer and keeps no new one out") {
  const TemporaryFolder folder;
  const std::string config = withToken(folder);
  const TargetProcess target(config, folder.path());
  BusyPeer busy(config, target);
  awaitDone(busy, 10);
  const size_t descriptors = descriptorsOf(target.pid());
  const uint64_t began_ns = monotonicNowNs();
  std::vector<Fd> silent;
  for (int i = 0; i < 200; ++i) silent.push_back(connectTo(target.port()));
  {
    const auto late = makeEngine(config);
    CHECK(late->openSegment(target.address()));
  }
  // 64 are waited for; the oldest have made room.
  const Heard first = listenTo(silent.front());
  CHECK(first.closed);
  CHECK(first.bytes.empty());
  CHECK(descriptorsOf(target.pid()) <= descriptors + 64 + 8);
  for (const Fd& each : silent) {
    const Heard heard = listenTo(each);
    CHECK(heard.closed);
    CHECK(heard.bytes.empty());
  }
  CHECK(monotonicNowNs() - began_ns < 6 * kSecond);
  awaitDone(busy, 10);
  busy.end();
  CHECK(busy.failed() == 0);
  CHECK(busy.slowestNs() < 2 * kSecond);
}

TEST_CASE("who says nothing, half of something, or one byte after the other is cut off after two seconds") {
  const TemporaryFolder folder;
  const TargetProcess target(withToken(folder), folder.path());
  const std::string hello = clientHello("tent-control/1");
  const uint64_t began_ns = monotonicNowNs();
  const Fd silent = connectTo(target.port());
  const Fd half = connectTo(target.port());
  REQUIRE(say(half, hello.substr(0, hello.size() / 2)));
  const Fd announcing = connectTo(target.port());
  REQUIRE(say(announcing, std::string("\x16\x03\x01\x40\x00\x01\x00\xff\xff", 9)));
  const Fd slow = connectTo(target.port());
  bool slow_ended = false;
  for (size_t i = 0; i < hello.size() && !slow_ended; ++i) {
    slow_ended = !say(slow, hello.substr(i, 1)) || listenTo(slow, 50).closed;
  }
  CHECK(slow_ended);
  for (const Fd* each : {&silent, &half, &announcing}) {
    const Heard heard = listenTo(*each);
    CHECK(heard.closed);
    CHECK(isSilenceOrAlert(heard.bytes));
  }
  const uint64_t took_ns = monotonicNowNs() - began_ns;
  CHECK(took_ns >= 1'900'000'000);
  CHECK(took_ns < 5 * kSecond);
}

TEST_CASE("nonsense, other keys and other protocols get an alert at most") {
  const TemporaryFolder folder;
  const std::string config = withToken(folder);
  const TargetProcess target(config, folder.path());
  BusyPeer busy(config, target);
  const std::string hello = clientHello("tent-control/1");
  std::vector<std::string> said{"GET / HTTP/1.1\r\n\r\n",
                                "SSH-2.0-OpenSSH_9.2\r\n",
                                std::string("\x13\0\0\0{\"type\":\"describe\"}", 23),
                                std::string("\xff\xff\xff\x7f{", 5),
                                clientHello("tent-control/2"),
                                clientHello("tent-control/1"),
                                hello + hello,
                                hello.substr(0, 60) + randomBytes(hello.size() - 60)};
  for (int i = 0; i < 50; ++i) said.push_back(randomBytes(600));
  for (const std::string& bytes : said) {
    const Fd fd = connectTo(target.port());
    say(fd, bytes);
    shutdown(fd.get(), SHUT_WR);
    const Heard heard = listenTo(fd);
    CHECK(heard.closed);
    CHECK(isSilenceOrAlert(heard.bytes));
    CHECK(heard.after_ns < kSecond);
  }
  awaitDone(busy, 10);
  busy.end();
  CHECK(busy.failed() == 0);
}

TEST_CASE("handshakes that are broken off leave nothing behind") {
  const TemporaryFolder folder;
  const std::string config = withToken(folder);
  const TargetProcess target(config, folder.path());
  BusyPeer busy(config, target);
  awaitDone(busy, 3);
  const size_t descriptors = descriptorsOf(target.pid());
  const std::string hello = clientHello("tent-control/1");
  for (size_t i = 0; i < 500; ++i) {
    const Fd fd = connectTo(target.port());
    say(fd, hello.substr(0, i % (hello.size() + 1)));
    if (i % 2 != 0) continue;  // gone in the middle
    const linger reset{1, 0};
    setsockopt(fd.get(), SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
  }
  awaitDone(busy, 10);
  {
    // It is accepted after all of them.
    const auto late = makeEngine(config);
    CHECK(late->openSegment(target.address()));
  }
  const uint64_t until_ns = monotonicNowNs() + 10 * kSecond;
  while (descriptorsOf(target.pid()) > descriptors && monotonicNowNs() < until_ns) std::this_thread::yield();
  CHECK(descriptorsOf(target.pid()) <= descriptors);
  busy.end();
  CHECK(busy.failed() == 0);
}

TEST_CASE("without a token too, who asks nothing is cut off, and who speaks TLS is told") {
  const TemporaryFolder folder;
  const TargetProcess target(R"({"auth": {"mode": "none"}})", folder.path());
  const Fd silent = connectTo(target.port());
  const Fd asking = connectTo(target.port());
  REQUIRE(say(asking, std::string("\x13\0\0\0{\"type\":\"describe\"}", 23)));
  const Fd wrong = connectTo(target.port());
  REQUIRE(say(wrong, clientHello("tent-control/1")));
  CHECK(listenTo(wrong, 1000).bytes.find("auth_failed") != std::string::npos);
  CHECK(listenTo(silent).closed);
  const Heard answer = listenTo(asking, 3000);
  CHECK(answer.bytes.find("\"protocol\"") != std::string::npos);
  CHECK_FALSE(answer.closed);
}

}  // namespace tent
