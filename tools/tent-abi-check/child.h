// Runs another program, or this one again, where a crash, a hang or an abort must not be ours: with a time limit, in a
// process group that is gone when it has ended, ended early when this process is interrupted or dies.
//
// Thread safety: none; called by the main thread alone.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tent::tool {

struct ChildCall {
  std::vector<std::string> words;  // the first is the program: a path, or a name to look for in PATH
  std::vector<std::pair<std::string, std::string>> environment;  // over this process's
  uint64_t timeout_ns = 0;
  std::string input;  // a few bytes for its standard input; "": it is empty
};

struct ChildEnd {
  enum class How : uint8_t { kExited, kSignaled, kTimedOut, kInterrupted, kNotStarted };
  How how = How::kNotStarted;
  int number = 0;      // the exit status, the signal, or the errno of what could not be started
  std::string output;  // of both, the first kMaxChildOutput bytes
  std::string errors;

  bool exitedWith(int status) const { return how == How::kExited && number == status; }
};

inline constexpr size_t kMaxChildOutput = 64u << 20;

ChildEnd runChild(const ChildCall& call);

// "killed by signal 11 (Segmentation fault)", "still running after 20 s", "exit status 3", "cannot be started: ...".
std::string describe(const ChildEnd& end, uint64_t timeout_ns);

// "what: why"; `what` alone where nothing tells why.
std::string withReason(std::string what, const std::string& why);

// The last line of a text that is not empty, shortened and safe for a terminal.
std::string lastLine(const std::string& text);

// The path of this program, for running it again.
std::string ownProgram();

}  // namespace tent::tool
