#include "inventory/memory.h"

#include <initializer_list>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

using namespace tent;

TEST_CASE("a memory's text and its location are two forms of one thing") {
  struct {
    std::string_view text;
    MemoryLocation location;
  } const cases[] = {
      {"cpu", {MemoryKind::kCpu, -1}},          {"cpu:0", {MemoryKind::kCpu, 0}},
      {"cpu:1", {MemoryKind::kCpu, 1}},         {"cuda:0", {MemoryKind::kCuda, 0}},
      {"cuda:15", {MemoryKind::kCuda, 15}},     {"cpu:1023", {MemoryKind::kCpu, 1023}},
      {"cuda:1023", {MemoryKind::kCuda, 1023}},
  };
  for (const auto& [text, location] : cases) {
    CAPTURE(text);
    CHECK((parseMemoryLocation(text) == location));  // doctest would take our toString for its own
    CHECK(toString(location) == text);
  }
}

TEST_CASE("anything but the exact form of a memory is refused") {
  for (std::string_view text : {"",        "cuda",     "cpu:",    "cuda:",     "CPU",
                                "Cuda:0",  " cpu",     "cpu ",    "cpu:-1",    "cpu:-0",
                                "cpu:+1",  "cpu:01",   "cuda:00", "cuda:1024", "cuda:99999999999999999999",
                                "cuda:1x", "cuda:0x1", "cuda: 1", "cuda:1:2",  "cpu0",
                                "gpu:0",   "cpus:1"}) {
    CAPTURE(text);
    CHECK_FALSE(parseMemoryLocation(text).has_value());
  }
  CHECK_FALSE(parseMemoryLocation(std::string_view("cpu\0", 4)).has_value());
  CHECK_FALSE(parseMemoryLocation(std::string_view("cuda:1\0", 7)).has_value());
}

TEST_CASE("registrations, segment types and memory kinds have the names that files use") {
  CHECK(nameOf(MemoryKind::kCpu) == "cpu");
  CHECK(nameOf(MemoryKind::kCuda) == "cuda");
  CHECK(nameOf(Registration::kApplication) == "application");
  CHECK(nameOf(Registration::kAllocated) == "allocated");
  CHECK(nameOf(SegmentType::kMemory) == "memory");
  CHECK(nameOf(SegmentType::kFile) == "file");
}
