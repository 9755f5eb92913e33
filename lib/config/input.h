// Files, FIFOs and standard input as the tools read them: whole documents, or line by line in constant memory.
//
// All system errors become values that say what failed and what to do. Nothing here throws. Reads block until there is
// something to read; interrupted ones are resumed. Thread safety: none; an input belongs to one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

namespace tent {

// An opened input. "-" is standard input, which stays open afterwards. A directory cannot be opened.
class Input {
 public:
  // The error is a sentence without the file's name ("cannot be opened: No such file or directory; check the path").
  // `exhausted`, where given, is set when it fails: whether for want of descriptors or memory, not because of the file.
  // Opening a FIFO blocks until it has a writer.
  static tl::expected<Input, std::string> open(const std::string& path, bool* exhausted = nullptr);
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;
  Input(Input&&) noexcept;
  Input& operator=(Input&&) noexcept;
  ~Input();

  const std::string& name() const;  // the path, "<stdin>" for "-"

  // What comes next without consuming it: at least `want` bytes unless the input ends before, maybe more. For sniffing
  // a format: a larger `want` later gives the same bytes and more. The view is valid until the next call.
  tl::expected<std::string_view, std::string> peek(size_t want);

  // All that remains. An error when it exceeds `limit` bytes or cannot be read.
  tl::expected<std::string, std::string> readAll(size_t limit);

  // The next line without its end ("\n" or "\r\n"), nothing at the end of the input. The view is valid until the next
  // call. A line over `limit` bytes is skipped in constant memory and gives the error kLineTooLong; reading can go on.
  // The last line needs no end. Bytes are not looked at: a NUL is one like others.
  enum class LineError : uint8_t { kLineTooLong, kReadFailed };
  tl::expected<std::optional<std::string_view>, LineError> nextLine(size_t limit);
  size_t lineNumber() const;             // of the line last given or found too long, from 1
  const std::string& readError() const;  // after kReadFailed, a sentence without the file's name

  // While waiting for input, also wait for `fd` to become readable, and then give up with an error. -1: never.
  void stopOn(int fd);

  // Called before each read that may block, so that a consumer can flush what it has.
  void beforeRead(std::function<void()> callback);

 private:
  struct State;
  explicit Input(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tent
