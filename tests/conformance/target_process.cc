#include "conformance/target_process.h"

#include <csignal>
#include <cstring>
#include <sstream>
#include <utility>

#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace tent::conformance {
namespace {

constexpr int kCommandFd = 3;  // as target_main.cc says

}  // namespace

TargetProcess::TargetProcess(const Kind& kind, const Limits& limits) : kind_(kind) {
  int ends[2];
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
  commands_.reset(ends[0]);
  const Fd theirs(ends[1]);
  const std::string suite(kind.suite);
  const std::string stall = std::to_string(limits.stall_ns);
  const std::string connect = std::to_string(limits.connect_ns);
  pid_ = fork();
  REQUIRE(pid_ >= 0);
  if (pid_ == 0) {
    // Only what may follow a fork of a process with threads.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (theirs.get() == kCommandFd) {
      fcntl(kCommandFd, F_SETFD, 0);
    } else {
      dup2(theirs.get(), kCommandFd);
    }
    execl(TENT_CONFORMANCE_TARGET, "conformance_target", suite.c_str(), stall.c_str(), connect.c_str(), nullptr);
    _exit(127);
  }
}

TargetProcess::~TargetProcess() {
  kill();
}

std::string TargetProcess::ask(const std::string& command) {
  const std::string line = command + "\n";
  REQUIRE(::send(commands_.get(), line.data(), line.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(line.size()));
  std::string reply;
  for (char c = 0; c != '\n';) {
    REQUIRE_MESSAGE(::read(commands_.get(), &c, 1) == 1, "the target has ended at: " << command);
    if (c != '\n') reply += c;
  }
  return reply;
}

RemoteRegion TargetProcess::memory(uint64_t bytes, Access access) {
  const std::string reply =
      ask(fmt::format("memory {} {} {}", bytes, static_cast<int>(access), kind_.allocates ? "allocate" : "register"));
  RemoteRegion region;
  int given_access = 0;
  std::string key;
  std::istringstream words(reply);
  words >> region.id >> region.base >> region.length >> given_access >> region.shared >> key;
  REQUIRE_MESSAGE(!words.fail(), reply);
  region.access = static_cast<Access>(given_access);
  region.key = fromHex(key);
  return region;
}

void TargetProcess::unregister(const RemoteRegion& region) {
  REQUIRE(ask(fmt::format("unregister {}", region.id)) == "ok");
}

std::string TargetProcess::answer(const std::string& offer) {
  const std::string reply = ask("answer " + hexOf(offer));
  return reply.starts_with("error") ? reply : fromHex(reply);
}

void TargetProcess::fill(const RemoteRegion& region, uint64_t seed) {
  REQUIRE(ask(fmt::format("fill {} {} {}", region.base, region.length, seed)) == "ok");
}

uint64_t TargetProcess::checksum(uint64_t address, uint64_t bytes) {
  return std::stoull(ask(fmt::format("checksum {} {}", address, bytes)));
}

Traffic TargetProcess::traffic() {
  Traffic traffic;
  std::istringstream(ask("traffic")) >> traffic.served_read_bytes >> traffic.served_written_bytes;
  return traffic;
}

void TargetProcess::stop() {
  REQUIRE(::kill(pid_, SIGSTOP) == 0);
  int status = 0;
  REQUIRE(waitpid(pid_, &status, WUNTRACED) == pid_);
  REQUIRE(WIFSTOPPED(status));
}

void TargetProcess::resume() {
  REQUIRE(::kill(pid_, SIGCONT) == 0);
}

void TargetProcess::kill() {
  const pid_t pid = std::exchange(pid_, 0);
  if (pid == 0) return;
  ::kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
}

}  // namespace tent::conformance
