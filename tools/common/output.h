// Standard output of the tools: buffered, with every failure noticed. A closed pipe ends the output quietly; a full
// disk is an error that names itself.
#pragma once

#include <string>

namespace tent::tool {

class Output {
 public:
  // Text to append to; it is written by flush() and, when much has gathered, by flushIfLarge().
  std::string& buffer() { return buffer_; }
  void flushIfLarge();
  // Writes all that has gathered. After a failure text is dropped.
  void flush();

  bool closed() const { return closed_; }              // the reader has gone; there is no use in writing more
  const std::string& error() const { return error_; }  // any other failure, "" none

 private:
  std::string buffer_;
  bool closed_ = false;
  std::string error_;
};

// Writes what is left. The exit code of a tool that would have ended with `exit_code`; a failure of the output is told
// on standard error in the name of `tool`.
int finish(Output& output, const char* tool, int exit_code);

}  // namespace tent::tool
