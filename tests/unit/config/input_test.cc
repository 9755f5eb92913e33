#include "config/input.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "support/replaced_calls.h"

using namespace std::string_literals;

namespace tent {
namespace {

namespace fs = std::filesystem;

// A folder of the test's own, gone with it.
class Folder {
 public:
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "tent-input-XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { fs::remove_all(path_); }

  std::string path(const std::string& name) const { return (path_ / name).string(); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
    return path(name);
  }

 private:
  fs::path path_;
};

Input opened(const std::string& path) {
  auto input = Input::open(path);
  REQUIRE(input);
  return std::move(*input);
}

// All lines with their numbers; those too long as "!".
std::vector<std::string> linesOf(Input& input, size_t limit) {
  std::vector<std::string> lines;
  while (true) {
    const auto line = input.nextLine(limit);
    if (line && !*line) return lines;
    REQUIRE((line || line.error() == Input::LineError::kLineTooLong));
    lines.push_back(std::to_string(input.lineNumber()) + ":" + (line ? std::string(**line) : "!"));
  }
}

using Lines = std::vector<std::string>;

TEST_CASE("what cannot be opened is said with what to do") {
  const Folder folder;
  CHECK(Input::open(folder.path("none")).error() == "cannot be opened: No such file or directory; check the path");
  CHECK(Input::open(folder.path("")).error() == "is a directory; give a file");
  folder.write("file", "");
  CHECK(Input::open(folder.path("file/x")).error() == "cannot be opened: Not a directory; check the path");
}

TEST_CASE("a file that may not be read is said to be so") {
  const ReplacedCalls replaced;
  systemCalls().open = [](const char*, int) {
    errno = EACCES;
    return -1;
  };
  CHECK(Input::open("x").error() == "cannot be opened: Permission denied; check who may read it and its folders");
}

TEST_CASE("a document is read whole, and knows its name") {
  const Folder folder;
  std::string text(300'000, 'x');
  text[100] = '\0';
  Input input = opened(folder.write("a", text));
  CHECK(input.name() == folder.path("a"));
  CHECK(input.readAll(1 << 20) == text);
  CHECK(input.readAll(1 << 20) == "");
}

TEST_CASE("a document of exactly the limit is read, and one byte more is refused") {
  const Folder folder;
  for (const size_t limit : {size_t{1}, size_t{1000}, size_t{65536}, size_t{200'000}}) {
    CHECK(opened(folder.write("a", std::string(limit, 'x'))).readAll(limit)->size() == limit);
    const auto refused = opened(folder.write("a", std::string(limit + 1, 'x'))).readAll(limit);
    REQUIRE_FALSE(refused);
  }
  CHECK(opened(folder.write("a", std::string(4097, 'x'))).readAll(4096).error() ==
        "is larger than 4 KiB; use NDJSON for longer streams");
  CHECK(opened(folder.write("a", "")).readAll(0) == "");
}

TEST_CASE("an endless device is refused at the limit") {
  CHECK(opened("/dev/zero").readAll(1 << 20).error() == "is larger than 1 MiB; use NDJSON for longer streams");
  Input lines = opened("/dev/null");
  CHECK(linesOf(lines, 10).empty());
}

TEST_CASE("peeking consumes nothing, and asks for more when more is wanted") {
  const Folder folder;
  Input input = opened(folder.write("a", "one\ntwo\n" + std::string(200'000, 'x')));
  CHECK(input.peek(3)->starts_with("one"));
  CHECK(input.peek(150'000)->size() >= 150'000);
  CHECK(input.peek(1'000'000)->size() == 200'008);
  CHECK(input.nextLine(100).value() == "one");
  CHECK(input.peek(3)->starts_with("two"));
  CHECK(input.readAll(1 << 20)->size() == 200'004);
}

TEST_CASE("lines end with a newline, with or without a carriage return, or with the text") {
  const Folder folder;
  Input input = opened(folder.write("a", "a\r\n\r\n\nb\rc\r\r\nd\0e\nlast"s));
  CHECK(linesOf(input, 10) == Lines{"1:a", "2:", "3:", "4:b\rc\r", "5:d\0e"s, "6:last"});
  Input ended = opened(folder.write("b", "a\n"));
  CHECK(linesOf(ended, 10) == Lines{"1:a"});
}

TEST_CASE("a line of exactly the limit is given, and a longer one skipped") {
  const Folder folder;
  for (const size_t limit : {size_t{5}, size_t{65'535}, size_t{65'536}, size_t{200'000}}) {
    CAPTURE(limit);
    const std::string fits(limit, 'x');
    Input input =
        opened(folder.write("a", fits + "\n" + fits + "\r\n" + fits + "y\n" + fits + "y\r\nok\n" + fits + "z"));
    CHECK(linesOf(input, limit) == Lines{"1:" + fits, "2:" + fits, "3:!", "4:!", "5:ok", "6:!"});
    Input end = opened(folder.write("a", fits));
    CHECK(linesOf(end, limit) == Lines{"1:" + fits});
  }
}

TEST_CASE("a line of gigabytes is skipped without being kept") {
  const ReplacedCalls replaced;
  static size_t left;
  left = size_t{2} << 30;
  systemCalls().read = [](int, void* buffer, size_t bytes) -> ssize_t {
    if (left == 0) return 0;
    const size_t count = std::min(bytes, left);
    left -= count;
    if (left == 0) static_cast<char*>(buffer)[count - 1] = '\n';
    return static_cast<ssize_t>(count);
  };
  Input input = opened("/dev/null");
  CHECK(linesOf(input, 1 << 20) == Lines{"1:!"});
}

TEST_CASE("interrupted and short reads change nothing") {
  const ReplacedCalls replaced;
  static int calls;
  calls = 0;
  systemCalls().read = [](int fd, void* buffer, size_t bytes) -> ssize_t {
    if (++calls % 2 == 1) {
      errno = EINTR;
      return -1;
    }
    return ::read(fd, buffer, std::min<size_t>(bytes, 1));
  };
  const Folder folder;
  Input lines = opened(folder.write("a", "one\r\ntoo long\nthree"));
  CHECK(linesOf(lines, 5) == Lines{"1:one", "2:!", "3:three"});
  CHECK(opened(folder.path("a")).readAll(100) == "one\r\ntoo long\nthree");
}

TEST_CASE("a failing read is an error that can be told from the end") {
  const ReplacedCalls replaced;
  systemCalls().read = [](int, void*, size_t) -> ssize_t {
    errno = EIO;
    return -1;
  };
  Input input = opened("/dev/null");
  CHECK(input.peek(1).error() == "cannot be read: Input/output error");
  CHECK(input.readAll(10).error() == "cannot be read: Input/output error");
  CHECK(input.nextLine(10).error() == Input::LineError::kReadFailed);
  CHECK(input.readError() == "cannot be read: Input/output error");
}

TEST_CASE("a FIFO is a stream whose lines come as they are written") {
  const Folder folder;
  const std::string fifo = folder.path("fifo");
  REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
  int acknowledged[2];
  REQUIRE(pipe(acknowledged) == 0);
  std::thread writer([&] {
    const int fd = ::open(fifo.c_str(), O_WRONLY);
    char token = 0;
    // The second line is written only once the first was read: a reader that waited for more would never see it.
    bool good = ::write(fd, "first\nsec", 9) == 9 && ::read(acknowledged[0], &token, 1) == 1;
    good = good && ::write(fd, "ond\n", 4) == 4;
    ::close(fd);
    CHECK(good);
  });
  Input input = opened(fifo);
  CHECK(input.peek(1)->starts_with("f"));
  CHECK(input.nextLine(100).value() == "first");
  CHECK(::write(acknowledged[1], "x", 1) == 1);
  CHECK(input.nextLine(100).value() == "second");
  CHECK_FALSE(input.nextLine(100).value());
  writer.join();
  ::close(acknowledged[0]);
  ::close(acknowledged[1]);
}

TEST_CASE("the callback comes before each read that may block, and before no other") {
  const Folder folder;
  Input input = opened(folder.write("a", "one\ntwo\n"));
  int calls = 0;
  input.beforeRead([&] { ++calls; });
  CHECK(input.nextLine(10).value() == "one");
  CHECK(calls == 1);
  CHECK(input.nextLine(10).value() == "two");
  CHECK(calls == 1);
  CHECK_FALSE(input.nextLine(10).value());
  CHECK(calls == 2);
}

TEST_CASE("a dash and /dev/stdin are standard input, which stays open") {
  const Folder folder;
  folder.write("a", "text");
  const int saved = dup(STDIN_FILENO);
  for (const std::string path : {"-", "/dev/stdin"}) {
    const int file = ::open(folder.path("a").c_str(), O_RDONLY | O_CLOEXEC);
    REQUIRE(dup2(file, STDIN_FILENO) == STDIN_FILENO);
    ::close(file);
    {
      Input input = opened(path);
      CHECK(input.name() == (path == "-" ? "<stdin>" : path));
      CHECK(input.readAll(10) == "text");
    }
    CHECK(fcntl(STDIN_FILENO, F_GETFD) != -1);
  }
  const int directory = ::open(folder.path("").c_str(), O_RDONLY | O_CLOEXEC);
  REQUIRE(dup2(directory, STDIN_FILENO) == STDIN_FILENO);
  ::close(directory);
  CHECK(Input::open("-").error() == "is a directory; give a file");
  if (saved >= 0) {
    dup2(saved, STDIN_FILENO);
    ::close(saved);
  }
}

TEST_CASE("an input can be handed on") {
  const Folder folder;
  Input first = opened(folder.write("a", "one\ntwo\n"));
  CHECK(first.nextLine(10).value() == "one");
  Input second = std::move(first);
  CHECK(second.nextLine(10).value() == "two");
  second = opened(folder.path("a"));
  CHECK(second.nextLine(10).value() == "one");
}

}  // namespace
}  // namespace tent
