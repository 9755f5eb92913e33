// How a process that has loaded a library tells its result to the process that started it, so that the library cannot
// tell one in its place: the answer stands between two copies of a random word, which the child reads from its standard
// input before it loads anything, and the exit status is one that goes with the word. A library that writes to every
// descriptor, ends the process or prints lines of its own has neither.
//
// It is no protection from a library that searches the memory of its process. Thread safety: none.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tent-abi-check/child.h"
#include "tent-abi-check/elf_file.h"

namespace tent::tool {

// ---- the process that asks

struct Answer {
  ChildEnd end;
  int own_status = 0;               // with which a child ends that nobody else has ended
  std::optional<std::string> text;  // nothing: there was none

  bool isWhole() const { return text && end.exitedWith(own_status); }
};

// Runs this program with `words`; it loads `library`, and finds the sanitizer runtimes that this needs.
Answer ask(std::vector<std::string> words, const ElfFile& library, uint64_t timeout_ns);

// Why there is no whole answer: "killed by signal 11 (Segmentation fault): what it printed last".
std::string describe(const Answer& answer, uint64_t timeout_ns);

// ---- the process that answers

class AnswerChannel {
 public:
  // To be made before the library is loaded: takes the word from standard input, and standard output out of the way of
  // what the library prints.
  AnswerChannel();
  explicit operator bool() const { return answer_ >= 0; }
  // Returns the exit status for the process.
  int say(std::string_view text) const;

 private:
  int answer_ = -1;  // never closed: the process ends after it
  std::string word_;
};

}  // namespace tent::tool
