#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>

#include "reading.h"

using namespace tent;
using namespace tent::test;

namespace {

class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "vector_format_XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string file(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

VectorFormat formatOf(std::string_view text, const std::string& name = "input") {
  const Folder folder;
  std::ofstream(folder.file(name), std::ios::binary) << text;
  auto input = Input::open(folder.file(name));
  REQUIRE(input);
  const auto format = sniffVectorFormat(*input);
  REQUIRE(format);
  const auto rest = input->readAll(text.size() + 1);
  REQUIRE(rest);
  CHECK(*rest == text);
  return *format;
}

}  // namespace

TEST_CASE("the ending of the name decides where it says the format") {
  CHECK(formatOf(R"({"schema_version": 1})", "a.ndjson") == VectorFormat::kNdjson);
  CHECK(formatOf(R"({"schema_version": 1})", "a.jsonl") == VectorFormat::kNdjson);
  CHECK(formatOf(R"({"request": {}})", "a.json") == VectorFormat::kNdjson);
}

TEST_CASE("the first telling key of the text decides elsewhere") {
  for (const char* key : {"schema_version", "clock", "vectors"}) {
    CAPTURE(key);
    CHECK(formatOf(std::string(" \n{\"mode\": \"strict\", \"") + key + "\": 1}") == VectorFormat::kDocument);
  }
  for (const char* key : {"name", "surface", "request", "layout", "repeat", "expect"}) {
    CAPTURE(key);
    CHECK(formatOf(std::string("{\"tenant\": \"a\", \"") + key + "\": 1}\n{}") == VectorFormat::kNdjson);
  }
}

TEST_CASE("keys further inside, values and escapes do not decide") {
  CHECK(formatOf(R"({"tenant": "request", "x": {"request": ["vectors"]}, "vectors": []})") == VectorFormat::kDocument);
  CHECK(formatOf(R"({"x\"request": "\\", "y": "\"", "request": {}})") == VectorFormat::kNdjson);
}

TEST_CASE("what cannot be told is a document") {
  for (const char* text : {"", "   ", "[]", "{}", R"({"mode": "strict"})", R"({"mode)", "\xEF\xBB\xBF", "}{"}) {
    CAPTURE(text);
    CHECK(formatOf(text) == VectorFormat::kDocument);
  }
  CHECK(formatOf("\xEF\xBB\xBF{\"request\": 1}") == VectorFormat::kNdjson);
  CHECK(formatOf(R"({"mode": ")" + std::string(2 << 20, 'x') + R"(", "request": 1})") == VectorFormat::kDocument);
}

TEST_CASE("telling the format of a FIFO waits for no more than the first key") {
  const Folder folder;
  const std::string path = folder.file("fifo");
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  int writer = -1;
  std::thread opener([&] { writer = open(path.c_str(), O_WRONLY); });
  auto input = Input::open(path);
  opener.join();
  REQUIRE(input);
  const std::string_view start = R"({"request")";
  REQUIRE(write(writer, start.data(), start.size()) == static_cast<ssize_t>(start.size()));
  // The writer stays open: asking for one byte too many would never return.
  const auto format = sniffVectorFormat(*input);
  REQUIRE(format);
  CHECK(*format == VectorFormat::kNdjson);
  close(writer);
}
