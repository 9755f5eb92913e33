// Who is let in: engines in two processes, with the same token, with others, and with none.
#include <cstdlib>
#include <string>

#include <doctest/doctest.h>

#include "base/clock.h"
#include "support/temporary_folder.h"
#include "unit/engine/strangers.h"
#include "unit/engine/target_process.h"
#include "unit/engine/two_engines.h"

namespace tent {
namespace {

const std::string kToken = "0123456789abcdefghijklmnopqrstuvwxyz";
const std::string kOther = "9876543210abcdefghijklmnopqrstuvwxyz";

std::string withToken(const std::string& path, const std::string& more = "") {
  return R"({"auth": {"token_file": ")" + path + "\"}" + more + "}";
}

const char* const kNone = R"({"auth": {"mode": "none"}})";

// Why an engine of this configuration cannot open the target's segment; that takes no time worth mentioning.
Error refusal(const std::string& config, const TargetProcess& target) {
  const auto engine = makeEngine(config);
  const uint64_t began_ns = monotonicNowNs();
  const auto opened = engine->openSegment(target.address());
  REQUIRE_FALSE(opened);
  CHECK(monotonicNowNs() - began_ns < 1'500'000'000);
  CHECK(opened.error().detail.find("0123456789") == std::string::npos);
  return opened.error();
}

bool has(const Error& error, const std::string& words) {
  return error.detail.find(words) != std::string::npos;
}

Error refusedAtStart(const std::string& config) {
  const auto engine = Engine::create(configOf(config));
  REQUIRE_FALSE(engine);
  CHECK(engine.error().reason == Reason::kBadConfiguration);
  return engine.error();
}

// Reads the target's memory over a transport, and says whether it is what it must be.
bool reads(Engine& engine, SegmentId segment, const TargetProcess& target, Transport transport) {
  std::vector<std::byte> expected(TargetProcess::kBytes);
  std::vector<std::byte> local(TargetProcess::kBytes);
  fill(expected.data(), expected.size(), 1);
  const Request request = target.request(Opcode::kRead, segment, local, transport);
  const BatchId batch = engine.allocateBatch(1).value();
  const auto submitted = engine.submit(batch, {&request, 1}, ValidationMode::kStrict);
  INFO((submitted ? "" : messageOf(submitted.error().error)));
  REQUIRE(submitted);
  REQUIRE(engine.wait(batch, kWatchdogNs).value());
  const auto report = engine.taskReport(batch, 0);
  INFO(messageOf(report->error));
  const bool completed = report->status.state == TaskState::kCompleted;
  CHECK(completed);
  CHECK_FALSE(engine.freeBatch(batch));
  return completed && local == expected;
}

struct StateHome {
  explicit StateHome(const std::string& path) : before(getenv("XDG_STATE_HOME") ? getenv("XDG_STATE_HOME") : "") {
    setenv("XDG_STATE_HOME", path.c_str(), 1);
  }
  StateHome(const StateHome&) = delete;
  StateHome& operator=(const StateHome&) = delete;
  ~StateHome() { before.empty() ? unsetenv("XDG_STATE_HOME") : setenv("XDG_STATE_HOME", before.c_str(), 1); }
  const std::string before;
};

}  // namespace

TEST_CASE("two processes of one user just work, over each transport") {
  const TemporaryFolder folder;
  const StateHome home(folder.path());
  const TargetProcess target("{}", folder.path());
  const auto engine = makeEngine();
  const auto segment = engine->openSegment(target.address());
  REQUIRE(segment);
  CHECK(reads(*engine, *segment, target, Transport::kTcp));
  CHECK(reads(*engine, *segment, target, Transport::kShm));
}

TEST_CASE("two processes with the same token file just work") {
  const TemporaryFolder folder;
  const std::string config = withToken(folder.write("token", kToken));
  const TargetProcess target(config, folder / "elsewhere");
  const auto engine = makeEngine(config);
  const auto segment = engine->openSegment(target.address());
  REQUIRE(segment);
  CHECK(reads(*engine, *segment, target, Transport::kTcp));
}

TEST_CASE("another user's engine is not let in") {
  const TemporaryFolder folder;
  const TargetProcess target("{}", folder / "theirs");
  const StateHome home(folder / "mine");
  const Error error = refusal("{}", target);
  CHECK(error.reason == Reason::kAuthFailed);
  CHECK(has(error, folder / "mine/tent/token"));
  CHECK(has(error, "another token"));
}

TEST_CASE("with a wrong token nobody is let in") {
  const TemporaryFolder folder;
  const TargetProcess target(withToken(folder.write("token", kToken)), folder.path());
  const std::string other = folder.write("other", kOther);
  const Error error = refusal(withToken(other), target);
  CHECK(error.reason == Reason::kAuthFailed);
  CHECK(has(error, other));
  CHECK(has(error, target.address()));
}

TEST_CASE("a token that was replaced lets nobody in any more") {
  const TemporaryFolder folder;
  const std::string path = folder.write("token", kToken);
  const auto before = makeEngine(withToken(path));
  folder.write("token", kOther);
  const auto after = Engine::create(configOf(withToken(path)));
  REQUIRE(after);
  const auto opened = before->openSegment((*after)->address());
  REQUIRE_FALSE(opened);
  CHECK(opened.error().reason == Reason::kAuthFailed);
  CHECK(has(opened.error(), "replaced"));
}

TEST_CASE("an engine without a token and one with one part at once, and say what to set where") {
  const TemporaryFolder folder;
  const std::string config = withToken(folder.write("token", kToken));
  {
    const TargetProcess target(config, folder.path());
    const Error error = refusal(kNone, target);
    CHECK(error.reason == Reason::kAuthFailed);
    CHECK(has(error, "asks for a token"));
    CHECK(has(error, "auth.mode"));
  }
  const TargetProcess target(kNone, folder.path());
  const Error error = refusal(config, target);
  CHECK(error.reason == Reason::kAuthFailed);
  CHECK(has(error, "does not ask for a token"));
  CHECK(has(error, "auth.mode"));
}

TEST_CASE("with mode none nobody needs a token") {
  const TemporaryFolder folder;
  const TargetProcess target(kNone, folder.path());
  const auto engine = makeEngine(kNone);
  const auto segment = engine->openSegment(target.address());
  REQUIRE(segment);
  CHECK(reads(*engine, *segment, target, Transport::kTcp));
}

TEST_CASE("an engine that others could reach starts with a token or with mode none, and says so") {
  const TemporaryFolder folder;
  const std::string bind = R"(, "rpc_server_hostname": "0.0.0.0")";
  for (const char* auth : {"{}", R"({"mode": "token"})"}) {
    const Error error = refusedAtStart("{\"auth\": " + std::string(auth) + bind + "}");
    CHECK(has(error, "auth.token_file"));
    CHECK(has(error, "auth.mode"));
    CHECK(has(error, "0.0.0.0"));
  }
  CHECK(makeEngine(withToken(folder.write("token", kToken), bind)));
  CHECK(makeEngine(R"({"auth": {"mode": "none"})" + bind + "}"));
}

TEST_CASE("a token that is not good, and what contradicts itself, keep an engine from starting") {
  const TemporaryFolder folder;
  const Error error = refusedAtStart(withToken(folder.write("token", "short")));
  CHECK(has(error, "auth.token_file"));
  CHECK(has(error, folder / "token"));
  CHECK(has(refusedAtStart(R"({"auth": {"mode": "none", "token_file": "/t"}})"), "token_file"));
  CHECK(has(refusedAtStart(R"({"auth": {"mode": "none", "encrypt_data": true}})"), "encrypt_data"));
  // Nobody can make a folder below a file, whoever runs this.
  const StateHome home(folder.write("file", ""));
  const Error no_home = refusedAtStart("{}");
  CHECK(has(no_home, "auth.token_file"));
  CHECK(has(no_home, "auth.mode"));
}

}  // namespace tent
