#include "auth/user_token.h"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/crypto.h>
#include <pwd.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/random.h"
#include "base/system_error.h"
#include "base/text.h"

namespace tent {
namespace {

constexpr const char* kWaysOut =
    "name another token by auth.token_file, or let everybody on this machine in by auth.mode \"none\"";

// Where nothing but descriptors or memory is lacking, another token is no way out.
Error withWaysOut(Error error) {
  if (error.reason == Reason::kBadConfiguration) error.detail += fmt::format("; {}", kWaysOut);
  return error;
}

Error cannotMake(const std::string& path, int error) {
  return withWaysOut(errorOfSystem(Reason::kBadConfiguration,
                                   fmt::format("the user's token {} cannot be made", escapeForTerminal(path)), error));
}

// Absolute paths only, as the base directory specification asks; and none where the program has another user's rights.
std::string absolutePathIn(const char* variable) {
  const char* value = secure_getenv(variable);
  return value != nullptr && value[0] == '/' ? value : "";
}

std::string homeOfUserDatabase() {
  std::vector<char> buffer(16384);
  passwd entry{};
  passwd* found = nullptr;
  getpwuid_r(geteuid(), &entry, buffer.data(), buffer.size(), &found);
  return found != nullptr && found->pw_dir != nullptr && found->pw_dir[0] == '/' ? found->pw_dir : "";
}

// Makes what is missing of the way to `folder`, for the user alone. 0 or an errno.
int makeFolders(const std::filesystem::path& folder) {
  if (mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST) return 0;
  if (errno != ENOENT || !folder.has_relative_path()) return errno;
  if (const int error = makeFolders(folder.parent_path())) return error;
  return mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST ? 0 : errno;
}

// Also when the process has a umask of its own, or is killed in between: no other sees the file before it is whole.
int writeToken(int fd) {
  auto bytes = randomValue<std::array<std::byte, Token::kMinBytes>>();
  const ssize_t written = write(fd, bytes.data(), bytes.size());
  const int error = written < 0 ? errno : ENOSPC;
  OPENSSL_cleanse(bytes.data(), bytes.size());
  if (written != static_cast<ssize_t>(bytes.size())) return error;
  // An empty file in its place after a loss of power would keep every engine from starting.
  return fchmod(fd, 0600) == 0 && fsync(fd) == 0 ? 0 : errno;
}

// Where several processes get here at once, link lets one of them put its file in place. 0 or an errno.
int makeToken(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (const int error = makeFolders(folder)) return error;
  const std::string temporary = fmt::format("{}.{:016x}", path, randomValue<uint64_t>());
  const Fd file(open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) return errno;
  int error = writeToken(file.get());
  if (error == 0 && link(temporary.c_str(), path.c_str()) != 0 && errno != EEXIST) error = errno;
  unlink(temporary.c_str());
  return error;
}

}  // namespace

tl::expected<std::string, Error> userTokenPath() {
  if (const std::string state = absolutePathIn("XDG_STATE_HOME"); !state.empty()) return state + "/tent/token";
  std::string home = absolutePathIn("HOME");
  if (home.empty()) home = homeOfUserDatabase();
  if (home.empty()) {
    return tl::unexpected(errorOf(
        Reason::kBadConfiguration,
        fmt::format("there is no place for the user's token: neither HOME nor the user database names a home; {}",
                    kWaysOut)));
  }
  return home + "/.local/state/tent/token";
}

tl::expected<Token, Error> userToken() {
  const auto path = userTokenPath();
  if (!path) return tl::unexpected(path.error());
  if (access(path->c_str(), F_OK) != 0) {
    if (const int error = makeToken(*path)) return tl::unexpected(cannotMake(*path, error));
  }
  auto token = readToken(*path);
  if (!token) return tl::unexpected(withWaysOut(std::move(token.error())));
  return token;
}

}  // namespace tent
