// The token that engines show each other: who has it may use every engine that has it too. It lies in a file; what is
// sent is never the token, but proof that its holder knows a key made from it.
//
// A token file is a regular file of the user that runs the engine, without any permission for group or others, of at
// least 32 and at most 4096 random bytes, all of which count, also a newline at its end: copies must be exact. All of
// that is looked at on the open descriptor, so that nothing can be put in its place in between; a symbolic link is not
// followed, and nothing there can make the reader wait.
//
// Invariants
//  1. The bytes are in no message, and are overwritten when a Token is destroyed.
//  2. A message names the file, what is wrong with it, and the command that mends it.
//
// Thread safety: a Token is a value; the functions may be called from any thread and by several processes at once.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "base/error.h"

namespace tent {

class Token {
 public:
  static constexpr size_t kMinBytes = 32;
  static constexpr size_t kMaxBytes = 4096;

  Token() = default;
  Token(std::vector<unsigned char> bytes, std::string path) : bytes_(std::move(bytes)), path_(std::move(path)) {}
  Token(const Token&) = delete;
  Token& operator=(const Token&) = delete;
  Token(Token&& other) noexcept = default;
  Token& operator=(Token&& other) noexcept;
  ~Token() { cleanse(); }

  const std::vector<unsigned char>& bytes() const { return bytes_; }
  const std::string& path() const { return path_; }  // where it was read from, for messages

 private:
  void cleanse();

  std::vector<unsigned char> bytes_;
  std::string path_;
};

// bad_configuration, or resource_exhausted for want of a descriptor. Does not block, except on the disk.
tl::expected<Token, Error> readToken(const std::string& path);

}  // namespace tent
