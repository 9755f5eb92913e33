// What a peer can do that has the token and does not behave.
#include <string>

#include <fcntl.h>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "auth/key.h"
#include "engine/wire.h"
#include "support/temporary_folder.h"
#include "transport/tls.h"
#include "unit/engine/strangers.h"
#include "unit/engine/target_process.h"
#include "unit/engine/two_engines.h"

namespace tent {
namespace {

const std::string kPeerToken = "0123456789abcdefghijklmnopqrstuvwxyz";

// A control connection by hand, past its handshake.
class Connection {
 public:
  explicit Connection(uint16_t port)
      : fd_(connectTo(port)), context_(TlsContext::Role::kClient, key(), "tent-control/1") {
    fcntl(fd_.get(), F_SETFL, O_NONBLOCK);
    session_.emplace(context_, fd_.get());
    TlsStatus status = session_->handshake();
    while (status == TlsStatus::kWantRead || status == TlsStatus::kWantWrite) {
      await(status);
      status = session_->handshake();
    }
    REQUIRE(status == TlsStatus::kDone);
  }

  // False: the other end has closed the connection.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const TlsMoved moved = session_->write(bytes.data(), bytes.size());
      bytes.remove_prefix(moved.bytes);
      if (moved.status == TlsStatus::kEnded || moved.status == TlsStatus::kFailed) return false;
      if (moved.status != TlsStatus::kDone) await(moved.status);
    }
    return true;
  }
  bool sendFrame(std::string_view text) { return send(head(text.size()) + std::string(text)); }
  // What is answered, up to the end of a frame; "" when the connection was closed instead.
  std::string answer() {
    std::string bytes;
    while (bytes.size() < kFrameHeadBytes || bytes.size() < kFrameHeadBytes + lengthOf(bytes)) {
      std::array<char, 65536> piece{};
      const TlsMoved moved = session_->read(piece.data(), piece.size());
      bytes.append(piece.data(), moved.bytes);
      if (moved.status == TlsStatus::kEnded || moved.status == TlsStatus::kFailed) return "";
      if (moved.status != TlsStatus::kDone) await(moved.status);
    }
    return bytes.substr(kFrameHeadBytes);
  }

  static std::string head(size_t length) {
    std::string bytes;
    for (size_t i = 0; i < kFrameHeadBytes; ++i) bytes.push_back(static_cast<char>(length >> (8 * i) & 0xff));
    return bytes;
  }

 private:
  static TlsKey key() {
    return deriveKey(Token({kPeerToken.begin(), kPeerToken.end()}, "token"), "tent-control/1 tls13-psk");
  }
  static size_t lengthOf(const std::string& bytes) {
    unsigned char head[kFrameHeadBytes];
    std::copy_n(bytes.begin(), kFrameHeadBytes, head);
    return lengthOfFrame(head);
  }
  void await(TlsStatus status) const {
    pollfd wait{fd_.get(), static_cast<short>(status == TlsStatus::kWantRead ? POLLIN : POLLOUT), 0};
    REQUIRE(poll(&wait, 1, 60'000) == 1);
  }

  Fd fd_;
  TlsContext context_;
  std::optional<TlsSession> session_;
};

// The resident memory of a process, in KiB.
uint64_t memoryOf(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string word; status >> word;) {
    uint64_t kib = 0;
    if (word == "VmRSS:" && status >> kib) return kib;
  }
  return 0;
}

}  // namespace

TEST_CASE("a length that is too great, or no JSON behind one, ends the connection and costs no memory") {
  const TemporaryFolder folder;
  const TargetProcess target(R"({"auth": {"token_file": ")" + folder.write("token", kPeerToken) + "\"}}",
                             folder.path());
  const uint64_t before = memoryOf(target.pid());
  for (const size_t length : {size_t{0}, size_t{kMaxRequestBytes} + 1, size_t{0x7fffffff}, size_t{0xffffffff}}) {
    Connection connection(target.port());
    connection.send(Connection::head(length) + "{");
    CHECK(connection.answer().empty());
  }
  Connection other_text(target.port());
  other_text.send(Connection::head(100) + "[");
  CHECK(other_text.answer().empty());
  // Announced and never sent: what was announced is not taken from memory.
  std::vector<std::unique_ptr<Connection>> announcing;
  for (int i = 0; i < 40; ++i) {
    announcing.push_back(std::make_unique<Connection>(target.port()));
    CHECK(announcing.back()->send(Connection::head(kMaxRequestBytes) + "{"));
  }
  CHECK(memoryOf(target.pid()) < before + 40 * 512);  // of 40 * 1024
}

TEST_CASE("many peers that come at once are all let in") {
  const TemporaryFolder folder;
  const TargetProcess target(R"({"auth": {"token_file": ")" + folder.write("token", kPeerToken) + "\"}}",
                             folder.path());
  std::atomic<int> answered{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 100; ++i) {
    threads.emplace_back([&] {
      Connection connection(target.port());
      connection.sendFrame(R"({"type":"describe"})");
      if (!connection.answer().empty()) ++answered;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(answered == 100);
}

TEST_CASE("requests that make no sense are answered with an error, and the next one is served") {
  const TemporaryFolder folder;
  const TargetProcess target(R"({"auth": {"token_file": ")" + folder.write("token", kPeerToken) + "\"}}",
                             folder.path());
  Connection connection(target.port());
  const std::string base = std::to_string(target.base());
  const std::string beyond = std::to_string(TargetProcess::kBytes + 1);
  const std::string nested = "{\"a\":" + std::string(kMaxRequestBytes - 6, '[');
  for (const std::string& text :
       {std::string("{}"), std::string("{\"type\":1}"), std::string("{\"type\":\"what\"}"), std::string("{nonsense"),
        nested, std::string(R"({"type":"connect","transport":"tcp","offer":"99999"})"),
        std::string(R"({"type":"connect","transport":"tcp","offer":"1 encrypted please"})"),
        std::string(R"({"type":"connect","transport":"tpu","offer":"1"})"),
        std::string(R"({"type":"checksums","ranges":[[0,1]]})"),
        R"({"type":"checksums","ranges":[[)" + base + "," + beyond + "]]}",
        std::string(R"({"type":"checksums","ranges":[[18446744073709551615,18446744073709551615]]})"),
        std::string(R"({"type":"notify","from":"x","name":"zz","message":""})")}) {
    CAPTURE(text.substr(0, 100));
    REQUIRE(connection.sendFrame(text));
    const std::string answer = connection.answer();
    CHECK(answer.find("\"error\"") != std::string::npos);
  }
  REQUIRE(connection.sendFrame(R"({"type":"describe"})"));
  CHECK(connection.answer().find("\"buffers\"") != std::string::npos);
}

TEST_CASE("a peer that asks for links and opens none keeps nobody from opening theirs") {
  const TemporaryFolder folder;
  const std::string config = R"({"auth": {"token_file": ")" + folder.write("token", kPeerToken) + "\"}}";
  const TargetProcess target(config, folder.path());
  Connection greedy(target.port());
  for (int i = 0; i < 600; ++i) {
    REQUIRE(greedy.sendFrame(R"({"type":"connect","transport":"tcp","offer":"16"})"));
    REQUIRE(greedy.answer().find("\"answer\"") != std::string::npos);
  }
  const auto engine = makeEngine(config);
  const auto segment = engine->openSegment(target.address());
  REQUIRE(segment);
  std::vector<std::byte> local(100);
  const Request request = target.request(Opcode::kRead, *segment, local, Transport::kTcp);
  const BatchId batch = engine->allocateBatch(1).value();
  REQUIRE(engine->submit(batch, {&request, 1}, ValidationMode::kStrict));
  REQUIRE(engine->wait(batch, kWatchdogNs).value());
  CHECK(engine->taskStatus(batch, 0)->state == TaskState::kCompleted);
}

}  // namespace tent
