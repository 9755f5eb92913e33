#include "tent-abi-check/child.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/text.h"
#include "common/interrupt.h"

namespace tent::tool {
namespace {

struct Pipe {
  Fd read_end;
  Fd write_end;

  bool open() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) return false;
    read_end.reset(ends[0]);
    write_end.reset(ends[1]);
    return true;
  }
};

// What the child needs, made before the fork: after it, only what other threads' locks cannot hold up.
struct Prepared {
  explicit Prepared(const ChildCall& call) : words(call.words) {
    for (char** entry = environ; *entry != nullptr; ++entry) {
      const std::string_view text = *entry;
      const std::string_view name = text.substr(0, text.find('='));
      const bool replaced = std::any_of(call.environment.begin(), call.environment.end(),
                                        [&](const auto& pair) { return pair.first == name; });
      if (!replaced) variables.emplace_back(text);
    }
    for (const auto& [name, value] : call.environment) variables.push_back(name + "=" + value);
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    for (std::string& variable : variables) environment.push_back(variable.data());
    environment.push_back(nullptr);
  }
  std::vector<std::string> words;
  std::vector<std::string> variables;
  std::vector<char*> arguments;
  std::vector<char*> environment;
};

[[noreturn]] void become(Prepared& prepared, int input, int output, int errors, int failure, pid_t parent) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  std::signal(SIGPIPE, SIG_DFL);
  if (dup2(input, STDIN_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0 && dup2(errors, STDERR_FILENO) >= 0) {
    execvpe(prepared.arguments[0], prepared.arguments.data(), prepared.environment.data());
  }
  const int error = errno;
  [[maybe_unused]] const auto written = write(failure, &error, sizeof error);
  _exit(127);
}

// Reads what is there; false at the end.
bool take(int fd, std::string& into) {
  std::array<char, 65536> piece{};
  const ssize_t got = read(fd, piece.data(), piece.size());
  if (got < 0) return errno == EINTR || errno == EAGAIN;
  const size_t room = kMaxChildOutput - std::min(into.size(), kMaxChildOutput);
  into.append(piece.data(), std::min(static_cast<size_t>(got), room));
  return got > 0;
}

// What a child that has ended left in a pipe. Nobody waits: a grandchild may hold the other end.
void drain(const Fd& fd, std::string& into) {
  pollfd one{fd.get(), POLLIN, 0};
  while (fd && poll(&one, 1, 0) > 0 && take(fd.get(), into)) {
  }
}

// Until the child has ended, or must.
void follow(int child, uint64_t until_ns, Fd& output, Fd& errors, ChildEnd& end) {
  for (;;) {
    const uint64_t now_ns = monotonicNowNs();
    if (now_ns >= until_ns) {
      end.how = ChildEnd::How::kTimedOut;
      return;
    }
    std::array<pollfd, 4> fds{
        {{output.get(), POLLIN, 0}, {errors.get(), POLLIN, 0}, {child, POLLIN, 0}, {interruptFd(), POLLIN, 0}}};
    const int wait_ms = static_cast<int>(std::min<uint64_t>((until_ns - now_ns) / 1'000'000 + 1, 1u << 30));
    if (poll(fds.data(), fds.size(), wait_ms) < 0 && errno != EINTR) return;
    if (fds[3].revents != 0) {
      end.how = ChildEnd::How::kInterrupted;
      return;
    }
    if (fds[0].revents != 0 && !take(output.get(), end.output)) output.reset();
    if (fds[1].revents != 0 && !take(errors.get(), end.errors)) errors.reset();
    if (fds[2].revents != 0) {
      end.how = ChildEnd::How::kExited;
      return;
    }
  }
}

}  // namespace

ChildEnd runChild(const ChildCall& call) {
  ChildEnd end;
  Pipe input;
  Pipe output;
  Pipe errors;
  Pipe failure;
  if (!input.open() || !output.open() || !errors.open() || !failure.open()) {
    end.number = errno;
    return end;
  }
  // Not a terminal's: a program that asks would wait for ever. It is less than a pipe holds, and nobody reads it yet.
  if (write(input.write_end.get(), call.input.data(), call.input.size()) != static_cast<ssize_t>(call.input.size())) {
    end.number = errno;
    return end;
  }
  input.write_end.reset();
  Prepared prepared(call);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) {
    become(prepared, input.read_end.get(), output.write_end.get(), errors.write_end.get(), failure.write_end.get(),
           parent);
  }
  if (pid < 0) {
    end.number = errno;
    return end;
  }
  setpgid(pid, pid);  // here too: whoever comes first
  input.read_end.reset();
  for (Pipe* pipe : {&output, &errors, &failure}) pipe->write_end.reset();
  // By its number: the header of glibc 2.36 declares the function for C alone.
  const Fd child(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  follow(child.get(), monotonicNowNs() + call.timeout_ns, output.read_end, errors.read_end, end);

  kill(-pid,
       SIGKILL);  // the child where it still runs, and what it left behind; its number is ours until it is waited for
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  drain(output.read_end, end.output);
  drain(errors.read_end, end.errors);
  int error = 0;
  if (read(failure.read_end.get(), &error, sizeof error) == sizeof error) {
    end.how = ChildEnd::How::kNotStarted;
    end.number = error;
  } else if (end.how == ChildEnd::How::kExited) {
    end.how = WIFSIGNALED(status) ? ChildEnd::How::kSignaled : ChildEnd::How::kExited;
    end.number = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
  }
  return end;
}

std::string describe(const ChildEnd& end, uint64_t timeout_ns) {
  switch (end.how) {
    case ChildEnd::How::kExited: return fmt::format("exit status {}", end.number);
    case ChildEnd::How::kSignaled: return fmt::format("killed by signal {} ({})", end.number, strsignal(end.number));
    case ChildEnd::How::kTimedOut:
      return fmt::format("still running after {:g} s", static_cast<double>(timeout_ns) / 1e9);
    case ChildEnd::How::kInterrupted: return "interrupted";
    case ChildEnd::How::kNotStarted: break;
  }
  return "cannot be started: " + std::generic_category().message(end.number);
}

std::string withReason(std::string what, const std::string& why) {
  if (!why.empty()) what += ": " + why;
  return what;
}

std::string lastLine(const std::string& text) {
  constexpr size_t kMost = 300;
  std::string_view rest = trimAscii(text);
  if (const size_t line = rest.rfind('\n'); line != std::string_view::npos) rest.remove_prefix(line + 1);
  return shorten(escapeForTerminal(rest), kMost);
}

std::string ownProgram() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).string();
}

}  // namespace tent::tool
