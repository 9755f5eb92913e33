#include "auth/user_token.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <doctest/doctest.h>

#include "support/temporary_folder.h"

namespace tent {
namespace {

// The variables that say where the token lies, as they were once it is destroyed. "" unsets.
class Environment {
 public:
  Environment(const std::string& state, const std::string& home) : state_("XDG_STATE_HOME"), home_("HOME") {
    set(state_.name, state);
    set(home_.name, home);
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  ~Environment() {
    set(state_.name, state_.before);
    set(home_.name, home_.before);
  }

 private:
  struct Variable {
    explicit Variable(const char* the_name) : name(the_name) {
      if (const char* value = getenv(the_name)) before = value;
    }
    const char* name;
    std::string before;
  };
  static void set(const char* name, const std::string& value) {
    value.empty() ? unsetenv(name) : setenv(name, value.c_str(), 1);
  }
  Variable state_;
  Variable home_;
};

mode_t modeOf(const std::string& path) {
  struct stat info {};
  REQUIRE(stat(path.c_str(), &info) == 0);
  return info.st_mode & 07777;
}

std::string contentOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("the user's token is made on first use, for the user alone, and found again") {
  const TemporaryFolder folder;
  const Environment environment(folder / "state", folder / "home");
  const mode_t before = umask(0);
  const auto first = userToken();
  umask(before);
  REQUIRE(first);
  CHECK(first->path() == folder / "state/tent/token");
  CHECK(first->bytes().size() == 32);
  CHECK(modeOf(first->path()) == 0600);
  CHECK(modeOf(folder / "state/tent") == 0700);
  CHECK(userToken()->bytes() == first->bytes());
  const auto files = std::filesystem::directory_iterator(folder / "state/tent");
  CHECK(std::distance(begin(files), end(files)) == 1);
}

TEST_CASE("without XDG_STATE_HOME, or with one that is no absolute path, it lies in the home") {
  const TemporaryFolder folder;
  for (const char* state : {"", "state"}) {
    const Environment environment(state, folder.path());
    CHECK(userToken()->path() == folder / ".local/state/tent/token");
  }
}

TEST_CASE("without HOME the user database is asked") {
  const Environment environment("", "");
  const auto path = userTokenPath();
  if (path) {
    CHECK(path->ends_with("/.local/state/tent/token"));
  } else {
    CHECK(path.error().detail.find("auth.token_file") != std::string::npos);
  }
}

TEST_CASE("a home that cannot be written to names the ways out") {
  const TemporaryFolder folder;
  const std::string file = folder.write("file", "");  // also root cannot make a folder in it
  const Environment environment(file, folder.path());
  const auto token = userToken();
  REQUIRE_FALSE(token);
  CHECK(token.error().reason == Reason::kBadConfiguration);
  CHECK(token.error().detail.find("auth.token_file") != std::string::npos);
  CHECK(token.error().detail.find("auth.mode") != std::string::npos);
}

TEST_CASE("one that is there and not good is told, and left as it is") {
  const TemporaryFolder folder;
  const Environment environment(folder / "state", folder.path());
  std::filesystem::create_directories(folder / "state/tent");
  const std::string path = folder.write("state/tent/token", "short");
  const auto token = userToken();
  REQUIRE_FALSE(token);
  CHECK(token.error().detail.find("auth.token_file") != std::string::npos);
  CHECK(contentOf(path) == "short");
}

TEST_CASE("processes that need the first one at once all get the same") {
  for (int round = 0; round < 20; ++round) {
    const TemporaryFolder folder;
    const Environment environment(folder / "state", folder.path());
    constexpr int kProcesses = 8;
    std::array<int, 2> gate{};
    REQUIRE(pipe(gate.data()) == 0);
    std::vector<pid_t> children;
    for (int i = 0; i < kProcesses; ++i) {
      children.push_back(fork());
      if (children.back() != 0) continue;
      close(gate[1]);
      char byte = 0;
      while (read(gate[0], &byte, 1) > 0) {
      }
      const auto token = userToken();
      if (!token) _exit(1);
      std::ofstream(folder / std::to_string(i), std::ios::binary)
          .write(reinterpret_cast<const char*>(token->bytes().data()), static_cast<std::streamsize>(32));
      _exit(0);
    }
    close(gate[1]);  // all go at once
    close(gate[0]);
    std::set<std::string> seen;
    for (int i = 0; i < kProcesses; ++i) {
      int status = -1;
      REQUIRE(waitpid(children[static_cast<size_t>(i)], &status, 0) > 0);
      CHECK(status == 0);
      seen.insert(contentOf(folder / std::to_string(i)));
    }
    CHECK(seen.size() == 1);
    CHECK(seen.begin()->size() == 32);
  }
}

}  // namespace tent
