// What is wrong in a file, and where. All readers collect every fault of a file in one run; a file with a fault is not
// used.
//
// Thread safety: none; a list belongs to the one reader of its file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tent {

// A place in a text: line and column from 1, columns in bytes; a byte order mark at the start of a file takes no
// column.
struct TextPosition {
  size_t line = 1;
  size_t column = 1;

  friend bool operator==(const TextPosition&, const TextPosition&) = default;
  friend bool operator<(const TextPosition& a, const TextPosition& b) {
    return a.line != b.line ? a.line < b.line : a.column < b.column;
  }
};

enum class Severity : uint8_t { kError, kWarning };

struct Fault {
  Severity severity = Severity::kError;
  TextPosition position;
  std::string pointer;  // an RFC 6901 JSON pointer ("" the whole text)
  std::string message;
};

// The faults of one file in the order of their places, however they were reported; those of one place in the order of
// the reports. The first kMaxFaults reports of each severity are kept, the rest counted; what is kept of a text is at
// most kMaxTextBytes long, so that a hostile file cannot fill the memory with what is said about it.
class FaultList {
 public:
  static constexpr size_t kMaxFaults = 1000;
  static constexpr size_t kMaxTextBytes = 4096;

  explicit FaultList(std::string file) : file_(std::move(file)) {}
  void error(TextPosition position, std::string pointer, std::string message);
  void warning(TextPosition position, std::string pointer, std::string message);

  bool hasErrors() const { return errors_ > 0; }
  size_t errorCount() const { return errors_; }
  size_t warningCount() const { return warnings_; }
  const std::vector<Fault>& faults() const { return faults_; }
  const std::string& file() const { return file_; }

  // "FILE:LINE:COL: POINTER: message", the pointer of the whole text written "/"; warnings read "warning: message".
  // Names from the file are escaped for a terminal.
  std::string format(const Fault& fault) const;
  // The first error, and how many more there are: for whom one sentence has to do. "" when there is none.
  std::string firstError() const;
  // All of them, a line each, and a last line that counts those that were not kept.
  std::string format() const;

 private:
  void insert(Fault fault);

  std::string file_;
  std::vector<Fault> faults_;
  size_t errors_ = 0;
  size_t warnings_ = 0;
};

}  // namespace tent
