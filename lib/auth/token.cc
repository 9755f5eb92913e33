#include "auth/token.h"

#include <bitset>
#include <cerrno>

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/crypto.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/system_calls.h"
#include "base/system_error.h"
#include "base/text.h"

namespace tent {
namespace {

// Of random bytes fewer than this are different with a probability that no one will ever see; of a file of zeros, or of
// a password that was repeated, they are.
constexpr size_t kMinDifferent = 8;

std::string createdBy(const std::string& path) {
  return fmt::format("; a good one is made by (umask 077; head -c 32 /dev/urandom > {})", escapeForTerminal(path));
}

Error bad(const std::string& path, const std::string& detail) {
  return errorOf(Reason::kBadConfiguration, fmt::format("token file {}: {}", escapeForTerminal(path), detail));
}

// The system refused what has to be done with the file.
Error refused(const std::string& path, int error) {
  switch (error) {
    case ENOENT: return bad(path, "there is none" + createdBy(path));
    case ELOOP: return bad(path, "it is a symbolic link, which could be turned elsewhere: name the file itself");
    case ENXIO: return bad(path, "it is not a regular file");  // a socket
    default: return errorOfSystem(Reason::kBadConfiguration, "token file " + escapeForTerminal(path), error);
  }
}

// What is wrong with the file itself; "" nothing.
std::string faultOf(const struct stat& info, const std::string& path) {
  if (!S_ISREG(info.st_mode)) return "it is not a regular file";
  if (info.st_uid != geteuid()) {
    return fmt::format("it belongs to user {}, and this process runs as user {}: whoever owns it could change it",
                       info.st_uid, geteuid());
  }
  if ((info.st_mode & 077) != 0) {
    return fmt::format("its mode {:03o} lets others at it: chmod 600 {}, and replace it if they may have read it",
                       info.st_mode & 0777, escapeForTerminal(path));
  }
  if (info.st_size < static_cast<off_t>(Token::kMinBytes)) {
    return fmt::format("it has {} bytes, and a token at least {} random ones", info.st_size, Token::kMinBytes) +
           createdBy(path);
  }
  if (info.st_size > static_cast<off_t>(Token::kMaxBytes)) {
    return fmt::format("it has {} bytes, more than the {} of a token", info.st_size, Token::kMaxBytes);
  }
  return "";
}

bool readAll(int fd, std::vector<unsigned char>& into) {
  size_t have = 0;
  while (have < into.size()) {
    const ssize_t got = systemCalls().read(fd, into.data() + have, into.size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return false;
    if (got == 0) return errno = EIO, false;  // it became shorter meanwhile
    have += static_cast<size_t>(got);
  }
  return true;
}

size_t differentBytes(const std::vector<unsigned char>& bytes) {
  std::bitset<256> seen;
  for (const unsigned char byte : bytes) seen.set(byte);
  return seen.count();
}

}  // namespace

Token& Token::operator=(Token&& other) noexcept {
  if (this == &other) return *this;
  cleanse();
  bytes_ = std::move(other.bytes_);
  path_ = std::move(other.path_);
  return *this;
}

void Token::cleanse() {
  OPENSSL_cleanse(bytes_.data(), bytes_.size());
}

tl::expected<Token, Error> readToken(const std::string& path) {
  // O_NONBLOCK: a FIFO that nobody writes to would hold up the open.
  const Fd file(systemCalls().open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
  if (!file) return tl::unexpected(refused(path, errno));
  struct stat info {};
  if (systemCalls().fstat(file.get(), &info) != 0) return tl::unexpected(refused(path, errno));
  if (const std::string fault = faultOf(info, path); !fault.empty()) return tl::unexpected(bad(path, fault));
  std::vector<unsigned char> bytes(static_cast<size_t>(info.st_size));
  const bool whole = readAll(file.get(), bytes);
  const int error = errno;
  Token token(std::move(bytes), path);  // from here on it is overwritten, whatever the end
  if (!whole) return tl::unexpected(refused(path, error));
  if (differentBytes(token.bytes()) < kMinDifferent) {
    return tl::unexpected(bad(path, "its bytes are not random" + createdBy(path)));
  }
  return token;
}

}  // namespace tent
