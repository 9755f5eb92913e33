#include <doctest/doctest.h>
#include <fmt/format.h>

#include "reading.h"

using namespace tent;
using namespace tent::test;

namespace {

Reading<Vector> readLayout(std::string_view fields) {
  return readLine(fmt::format(R"({{"request": {{"length": 1}}, "layout": {{{}}}}})", fields));
}

}  // namespace

TEST_CASE("a document gives its header and its vectors, numbered and placed") {
  const auto reading = readVectors(R"({"schema_version": 1, "mode": "compat", "tenant": " A ", "clock": {"now_ns": 7},
  "vectors": [
    {"name": "first", "mode": "strict", "tenant": "", "repeat": 4294967296, "request": {"length": 1}},
    {"request": {"length": 2}}
  ]})");
  CHECK(reading.lines() == std::vector<std::string>{});
  REQUIRE(reading.clean());
  CHECK(reading.value->header.mode == ValidationMode::kCompat);
  CHECK(reading.value->header.tenant->view() == "a");
  CHECK(reading.value->header.now_ns == 7);
  REQUIRE(reading.value->vectors.size() == 2);
  const Vector& first = reading.value->vectors[0];
  CHECK(first.name == "first");
  CHECK(first.mode == ValidationMode::kStrict);
  CHECK(first.tenant->view() == "default");
  CHECK(first.repeat == 4294967296);
  CHECK(first.surface == Surface::kV1);
  const Vector& second = reading.value->vectors[1];
  CHECK(second.name == "vector-1");
  CHECK(second.index == 1);
  CHECK(second.position.line == 4);
  CHECK(second.position.column == 5);
  CHECK_FALSE(second.mode);
  CHECK_FALSE(second.tenant);
  CHECK_FALSE(second.layout);
  CHECK_FALSE(second.expect);
}

TEST_CASE("a document says its version and has vectors") {
  CHECK(readVectors(R"({"vectors": []})").onlyFault("", "\"schema_version\" is missing"));
  CHECK(readVectors(R"({"schema_version": 1})").onlyFault("", "\"vectors\" is missing"));
  CHECK(readVectors(R"({"schema_version": 2, "vectors": []})").onlyFault("/schema_version", "version 2"));
  CHECK(readVectors(R"({"schema_version": 1, "vectors": {}})").onlyFault("/vectors", "an array"));
  CHECK(readVectors("[]").onlyFault("", "an object"));
  CHECK(readVectors(R"({"schema_version": 1, "vectors": [], "notes": ""})").onlyFault("/notes", "unknown key"));
}

TEST_CASE("a clock pins a time from 1 on") {
  CHECK(
      readVectors(R"({"schema_version": 1, "vectors": [], "clock": {}})").onlyFault("/clock", "\"now_ns\" is missing"));
  CHECK(readVectors(R"({"schema_version": 1, "vectors": [], "clock": {"now_ns": 0}})")
            .onlyFault("/clock/now_ns", "at least 1"));
}

TEST_CASE("faulty vectors are left out with all their faults, the others are read") {
  const auto reading = readVectors(R"({"schema_version": 1, "vectors": [
    {"request": {"length": 1, "opcode": "x", "flags": -1}, "repeat": 0},
    {"name": "good", "request": {"length": 1}},
    {}
  ]})");
  CHECK(reading.faults.errorCount() == 4);
  REQUIRE(reading.value);
  REQUIRE(reading.value->vectors.size() == 1);
  CHECK(reading.value->vectors[0].name == "good");
  CHECK(reading.value->vectors[0].index == 1);
}

TEST_CASE("a layout claims what it is told to, with the sizes of schema 1 as defaults") {
  const auto defaults = readLayout("");
  REQUIRE(defaults.clean());
  CHECK(defaults.value->layout->struct_size == 88);
  CHECK(defaults.value->layout->entry_stride == 88);
  CHECK(defaults.value->layout->schema_version == 1);
  CHECK(defaults.value->layout->entry_schema_version == 1);
  CHECK(readLayout(R"("struct_size": 48)").value->layout->entry_stride == 88);
  CHECK(readLayout(R"("struct_size": 96)").value->layout->entry_stride == 96);
  CHECK(readLayout(R"("schema_version": 7)").value->layout->entry_schema_version == 7);
  const auto whole = readLayout(
      R"("struct_size": 90, "entry_stride": 18446744073709551615, "schema_version": 0, "entry_schema_version": 4294967295,
         "reserved0": 4294967295, "reserved_opcode": 1, "misalign": 1, "tail": "0fF0")");
  REQUIRE(whole.clean());
  CHECK(whole.value->layout->entry_stride == UINT64_MAX);
  CHECK(whole.value->layout->entry_schema_version == UINT32_MAX);
  CHECK(whole.value->layout->reserved0 == UINT32_MAX);
  CHECK(whole.value->layout->reserved_opcode == 1);
  CHECK(whole.value->layout->misalign == 1);
  CHECK(whole.value->layout->tail == "\x0f\xf0");
}

TEST_CASE("a tail fits into its entry") {
  CHECK(readLayout(R"("tail": "")").clean());
  CHECK(readLayout(R"("struct_size": 70000, "tail": "00")").clean());
  CHECK(readLayout(R"("tail": "00")").onlyFault("/layout/tail", "room for 0"));
  CHECK(readLayout(R"("struct_size": 48, "tail": "00")").onlyFault("/layout/tail", "room for 0"));
  CHECK(readLayout(R"("struct_size": 89, "tail": "0000")").onlyFault("/layout/tail", "room for 1"));
  CHECK(readLayout(R"("struct_size": 96, "tail": "000")").onlyFault("/layout/tail", "hexadecimal"));
  CHECK(readLayout(R"("struct_size": 96, "tail": "zz")").onlyFault("/layout/tail", "hexadecimal"));
}

TEST_CASE("only the v1 surface has a layout") {
  for (const char* surface : {"legacy", "cpp", "python"}) {
    CHECK(readLine(fmt::format(R"({{"surface": "{}", "layout": {{}}, "request": {{"length": 1}}}})", surface))
              .onlyFault("/layout", "only the v1 surface"));
  }
}

TEST_CASE("a vector repeats at least once") {
  CHECK(readLine(R"({"request": {"length": 1}})").value->repeat == 1);
  CHECK(readLine(R"({"request": {"length": 1}, "repeat": 0})").onlyFault("/repeat", "must be"));
  CHECK(readLine(R"({"request": {"length": 1}, "repeat": 4294967297})").onlyFault("/repeat", "must be"));
}
