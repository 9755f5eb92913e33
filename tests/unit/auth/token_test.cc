#include "auth/token.h"

#include <cerrno>
#include <string>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <doctest/doctest.h>

#include "base/fd.h"
#include "support/replaced_calls.h"
#include "support/temporary_folder.h"

namespace tent {
namespace {

const std::string kGood = "0123456789abcdefghijklmnopqrstuv";  // 32 bytes

std::string refused(const std::string& path) {
  const auto token = readToken(path);
  REQUIRE_FALSE(token);
  CHECK(token.error().reason == Reason::kBadConfiguration);
  CHECK(token.error().detail.find(path) != std::string::npos);
  CHECK(token.error().detail.find(kGood.substr(0, 8)) == std::string::npos);
  return token.error().detail;
}

bool says(const std::string& text, const char* words) {
  return text.find(words) != std::string::npos;
}

}  // namespace

TEST_CASE("a token is all the bytes of its file") {
  const TemporaryFolder folder;
  for (const std::string& content : {kGood, kGood + "\n", std::string(4000, 'x') + kGood + std::string(64, '\0')}) {
    const auto token = readToken(folder.write("token", content));
    REQUIRE(token);
    CHECK(std::string(token->bytes().begin(), token->bytes().end()) == content);
  }
}

TEST_CASE("a file that others can get at is no token") {
  const TemporaryFolder folder;
  const std::string path = folder.write("token", kGood);
  for (const mode_t mode : {0640u, 0620u, 0610u, 0604u, 0602u, 0601u, 0666u, 0777u}) {
    REQUIRE(chmod(path.c_str(), mode) == 0);
    CHECK(says(refused(path), "chmod 600"));
  }
  REQUIRE(chmod(path.c_str(), 0400) == 0);
  CHECK(readToken(path));
}

TEST_CASE("what is no regular file is no token, and nobody waits for it") {
  const TemporaryFolder folder;
  const std::string fifo = folder / "fifo";
  REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
  CHECK(says(refused(fifo), "regular"));
  CHECK(says(refused(folder.path()), "regular"));
  CHECK(says(refused("/dev/zero"), "regular"));
  const std::string socket_path = folder / "socket";
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  socket_path.copy(address.sun_path, sizeof address.sun_path - 1);
  const Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  REQUIRE(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  CHECK(says(refused(socket_path), "regular"));
}

TEST_CASE("a symbolic link is not followed") {
  const TemporaryFolder folder;
  const std::string link = folder / "link";
  REQUIRE(symlink(folder.write("token", kGood).c_str(), link.c_str()) == 0);
  CHECK(says(refused(link), "symbolic link"));
}

TEST_CASE("a file that is not there tells how to make one") {
  const TemporaryFolder folder;
  CHECK(says(refused(folder / "token"), "/dev/urandom"));
}

TEST_CASE("a token has 32 bytes at least and 4096 at most, and they are random") {
  const TemporaryFolder folder;
  CHECK(says(refused(folder.write("empty", "")), "0 bytes"));
  CHECK(says(refused(folder.write("short", kGood.substr(1))), "31 bytes"));
  CHECK(says(refused(folder.write("long", std::string(4065, 'x') + kGood)), "4097 bytes"));
  CHECK(says(refused(folder.write("zeros", std::string(64, '\0'))), "not random"));
  CHECK(says(refused(folder.write("repeated", "secret secret secret secret secret secret")), "not random"));
}

TEST_CASE("another user's file is no token") {
  const TemporaryFolder folder;
  const std::string path = folder.write("token", kGood);
  const ReplacedCalls replaced;
  systemCalls().fstat = [](int fd, struct stat* result) {
    const int rc = ::fstat(fd, result);
    result->st_uid = geteuid() + 1;
    return rc;
  };
  CHECK(says(refused(path), "belongs to user"));
}

TEST_CASE("reads that are interrupted or short go on, and errors of reading are told") {
  const TemporaryFolder folder;
  const std::string path = folder.write("token", kGood);
  const ReplacedCalls replaced;
  systemCalls().read = [](int fd, void* buffer, size_t bytes) -> ssize_t {
    static int calls = 0;
    if (++calls % 2 == 0) return errno = EINTR, -1;
    return ::read(fd, buffer, bytes > 5 ? 5 : bytes);
  };
  CHECK(readToken(path)->bytes().size() == 32);
  systemCalls().read = [](int, void*, size_t) -> ssize_t { return 0; };
  CHECK(says(refused(path), "Input/output"));
}

TEST_CASE("that no descriptor is left says nothing against the file") {
  const TemporaryFolder folder;
  const std::string path = folder.write("token", kGood);
  const ReplacedCalls replaced;
  systemCalls().open = [](const char*, int) { return errno = EMFILE, -1; };
  const auto token = readToken(path);
  REQUIRE_FALSE(token);
  CHECK(token.error().reason == Reason::kResourceExhausted);
  CHECK(says(token.error().detail, "ulimit -n"));
}

}  // namespace tent
