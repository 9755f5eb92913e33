#include "tent-submit/own_target.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/system_error.h"
#include "common/interrupt.h"
#include "config/json_value.h"

namespace tent::tool {
namespace {

constexpr uint64_t kReadyTimeoutNs = 30'000'000'000;  // it fills its buffers first
constexpr uint64_t kEndTimeoutNs = 2'000'000'000;
constexpr size_t kMaxReadyLine = 65536;

std::string systemError(const char* what) {
  return fmt::format("the target on this machine does not start: {}: {}", what, describeSystemError(errno));
}

// Waits until `fd` can be read or has been closed at its other end. False when the time passed, or `stop_fd` (-1 none)
// became readable.
bool awaitReadable(int fd, int stop_fd, uint64_t until_ns) {
  for (;;) {
    const uint64_t now_ns = monotonicNowNs();
    if (now_ns >= until_ns) return false;
    std::array<pollfd, 2> fds{{{fd, POLLIN, 0}, {stop_fd, POLLIN, 0}}};
    const int ready = poll(fds.data(), fds.size(), static_cast<int>((until_ns - now_ns) / 1'000'000 + 1));
    if (ready < 0 && errno != EINTR) return false;
    if (fds[1].revents != 0) return false;
    if (ready > 0 && fds[0].revents != 0) return true;
  }
}

// In the child, between fork and exec: only what other threads' locks cannot hold up.
[[noreturn]] void become(char* const* arguments, int input, int output, pid_t parent) {
  // A group of its own, so that Ctrl-C does not take the target from under the transfers that are still ending.
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);  // it has ended before that took effect
  if (dup2(input, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0) _exit(127);
  execv("/proc/self/exe", arguments);
  _exit(127);
}

}  // namespace

OwnTarget::OwnTarget(OwnTarget&& other) noexcept
    : pid_(std::exchange(other.pid_, 0)),
      input_(std::move(other.input_)),
      output_(std::move(other.output_)),
      address_(std::move(other.address_)) {}

OwnTarget& OwnTarget::operator=(OwnTarget&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(input_, other.input_);
  std::swap(output_, other.output_);
  std::swap(address_, other.address_);
  return *this;
}

tl::expected<OwnTarget, std::string> OwnTarget::start(uint64_t buffer_bytes, const EngineConfig& config) {
  std::array<int, 2> to_child{};
  std::array<int, 2> from_child{};
  if (pipe2(to_child.data(), O_CLOEXEC) != 0) return tl::unexpected(systemError("pipe"));
  const Fd child_input(to_child[0]);
  OwnTarget target;
  target.input_.reset(to_child[1]);
  if (pipe2(from_child.data(), O_CLOEXEC) != 0) return tl::unexpected(systemError("pipe"));
  target.output_.reset(from_child[0]);
  Fd child_output(from_child[1]);

  std::vector<std::string> words{
      "tent-submit", "--serve", "--bind",  "127.0.0.1:0",       "--size", std::to_string(buffer_bytes),
      "--format",    "json",    "--quiet", "--until-stdin-ends"};
  words.push_back("--staging-chunk=" + std::to_string(config.plan.staging_chunk_bytes));
  words.push_back("--staging-buffers=" + std::to_string(config.staging.buffers));
  if (config.auth.mode == AuthSettings::Mode::kNone) words.emplace_back("--without-token");
  if (config.auth.token_file) words.push_back("--token-file=" + *config.auth.token_file);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const pid_t parent = getpid();
  target.pid_ = fork();
  if (target.pid_ == 0) become(arguments.data(), child_input.get(), child_output.get(), parent);
  if (target.pid_ < 0) {
    target.pid_ = 0;
    return tl::unexpected(systemError("fork"));
  }
  child_output.reset();  // so that its end is seen
  if (std::string error = target.awaitReady(); !error.empty()) return tl::unexpected(std::move(error));
  return target;
}

std::string OwnTarget::awaitReady() {
  const uint64_t until_ns = monotonicNowNs() + kReadyTimeoutNs;
  std::string line;
  while (line.find('\n') == std::string::npos) {
    if (!awaitReadable(output_.get(), interruptFd(), until_ns)) {
      return interrupted() ? "interrupted" : "the target on this machine did not become ready in time";
    }
    std::array<char, 4096> piece{};
    const ssize_t got = read(output_.get(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return "the target on this machine has ended before it was ready; its message stands above";
    line.append(piece.data(), static_cast<size_t>(got));
    if (line.size() > kMaxReadyLine) break;
  }
  FaultList faults("ready line");
  const auto ready = parseJson(line.substr(0, line.find('\n')), faults);
  const JsonValue* address = ready ? ready->find("address") : nullptr;
  if (address == nullptr || address->kind != JsonValue::Kind::kString) {
    return "the target on this machine does not say where it serves";
  }
  address_ = address->string;
  return "";
}

void OwnTarget::end() {
  const pid_t pid = std::exchange(pid_, 0);
  if (pid == 0) return;
  input_.reset();
  // Its output closes with it. What it may still say there is read, so that it is not held up.
  const uint64_t until_ns = monotonicNowNs() + kEndTimeoutNs;
  std::array<char, 4096> piece{};
  while (awaitReadable(output_.get(), -1, until_ns) && read(output_.get(), piece.data(), piece.size()) > 0) {
  }
  kill(pid, SIGKILL);  // of one that has ended nothing is left to kill
  while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace tent::tool
