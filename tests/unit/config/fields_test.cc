#include "config/fields.h"

#include <array>
#include <cstdint>
#include <limits>

#include <doctest/doctest.h>

namespace tent {
namespace {

// An object under a reader, and what the reader reports.
struct Reading {
  explicit Reading(std::string_view text, std::string pointer = "/o")
      : value(*parseJson(text, faults)), reader(value, std::move(pointer), faults) {}
  std::string lines() const { return faults.format(); }

  FaultList faults{"f"};
  JsonValue value;
  ObjectReader reader;
};

constexpr std::array<std::string_view, 2> kModes{"strict", "compat"};

TEST_CASE("good fields are given and nothing is reported") {
  Reading r(
      R"({"b": true, "s": "x", "i": -5, "u": 18446744073709551615, "z": "4KiB", "n": 1.5, "m": "compat", "a": [1]})");
  CHECK(r.reader.boolean("b") == true);
  CHECK(r.reader.string("s") == "x");
  CHECK(r.reader.integer("i", -5, 5) == -5);
  CHECK(r.reader.unsignedInteger("u", 0, UINT64_MAX) == UINT64_MAX);
  CHECK(r.reader.size("z") == 4096u);
  CHECK(r.reader.number("n", 0, 2) == 1.5);
  CHECK(r.reader.oneOf("m", kModes) == 1u);
  REQUIRE(r.reader.array("a") != nullptr);
  CHECK(r.reader.array("a")->size() == 1);
  r.reader.finish(UnknownKeys::kError);
  CHECK(r.lines().empty());
}

TEST_CASE("absent fields give nothing and are no fault") {
  Reading r("{}");
  CHECK_FALSE(r.reader.boolean("k"));
  CHECK_FALSE(r.reader.string("k"));
  CHECK_FALSE(r.reader.integer("k", 0, 1));
  CHECK_FALSE(r.reader.unsignedInteger("k", 0, 1));
  CHECK_FALSE(r.reader.size("k"));
  CHECK_FALSE(r.reader.number("k", 0, 1));
  CHECK_FALSE(r.reader.oneOf("k", kModes));
  CHECK(r.reader.array("k") == nullptr);
  CHECK(r.reader.take("k") == nullptr);
  r.reader.finish(UnknownKeys::kError);
  CHECK(r.lines().empty());
}

TEST_CASE("each wrong kind is reported at the value") {
  Reading r(R"({"b": 1, "s": true, "i": "1", "u": 1.5, "z": [], "n": {}, "m": 3, "a": "x"})");
  CHECK_FALSE(r.reader.boolean("b"));
  CHECK_FALSE(r.reader.string("s"));
  CHECK_FALSE(r.reader.integer("i", 0, 1));
  CHECK_FALSE(r.reader.unsignedInteger("u", 0, 1));
  CHECK_FALSE(r.reader.size("z"));
  CHECK_FALSE(r.reader.number("n", 0, 1));
  CHECK_FALSE(r.reader.oneOf("m", kModes));
  CHECK(r.reader.array("a") == nullptr);
  CHECK(r.lines() ==
        "f:1:7: /o/b: expected a boolean, found an integer\n"
        "f:1:15: /o/s: expected a string, found a boolean\n"
        "f:1:26: /o/i: expected an integer, found a string\n"
        "f:1:36: /o/u: expected an integer, found a number with a fraction or exponent\n"
        "f:1:46: /o/z: expected a size, such as 4096 or \"4KiB\", found an array\n"
        "f:1:55: /o/n: expected a number, found an object\n"
        "f:1:64: /o/m: expected one of \"strict\", \"compat\", found an integer\n"
        "f:1:72: /o/a: expected an array, found a string\n");
}

TEST_CASE("null is a fault to every typed getter") {
  Reading r(R"({"k": null})");
  r.reader.boolean("k");
  r.reader.string("k");
  r.reader.integer("k", 0, 1);
  r.reader.unsignedInteger("k", 0, 1);
  r.reader.size("k");
  r.reader.number("k", 0, 1);
  r.reader.oneOf("k", kModes);
  r.reader.array("k");
  CHECK(r.faults.errorCount() == 8);
  for (const Fault& fault : r.faults.faults()) CHECK(fault.message == "null is not allowed here");
  REQUIRE(r.reader.take("k") != nullptr);
  CHECK(r.reader.take("k")->kind == JsonValue::Kind::kNull);
}

std::string rangeFault(std::string_view number, int64_t min, int64_t max) {
  Reading r("{\"k\": " + std::string(number) + "}");
  CHECK_FALSE(r.reader.integer("k", min, max));
  return r.faults.faults().at(0).message;
}

std::string unsignedRangeFault(std::string_view number, uint64_t min, uint64_t max) {
  Reading r("{\"k\": " + std::string(number) + "}");
  CHECK_FALSE(r.reader.unsignedInteger("k", min, max));
  return r.faults.faults().at(0).message;
}

TEST_CASE("values out of range are reported with the range") {
  CHECK(unsignedRangeFault("16", 0, 15) == "must be from 0 to 15, is 16");
  CHECK(unsignedRangeFault("-1", 0, 15) == "must be from 0 to 15, is -1");
  CHECK(unsignedRangeFault("0", 1, UINT64_MAX) == "must be at least 1, is 0");
  CHECK(rangeFault("-6", -5, 5) == "must be from -5 to 5, is -6");
  CHECK(rangeFault("18446744073709551615", -5, 5) == "must be at most 5, is 18446744073709551615");
  CHECK(rangeFault("9223372036854775808", 0, INT64_MAX) ==
        "must be at most 9223372036854775807, is 9223372036854775808");
  CHECK(rangeFault("9", INT64_MIN, 8) == "must be at most 8, is 9");
  Reading r(R"({"n": 2.5, "i": 7, "z": -1})");
  CHECK_FALSE(r.reader.number("n", 0, 2));
  CHECK_FALSE(r.reader.number("i", 0, 2));
  CHECK_FALSE(r.reader.size("z"));
  CHECK(r.lines() ==
        "f:1:7: /o/n: must be from 0 to 2, is 2.5\n"
        "f:1:17: /o/i: must be from 0 to 2, is 7\n"
        "f:1:25: /o/z: must be at least 0, is -1\n");
}

TEST_CASE("the ends of a range belong to it") {
  Reading r(R"({"i": -9223372036854775808, "j": 9223372036854775807, "u": 15, "z": 0})");
  CHECK(r.reader.integer("i", INT64_MIN, INT64_MAX) == INT64_MIN);
  CHECK(r.reader.integer("j", INT64_MIN, INT64_MAX) == INT64_MAX);
  CHECK(r.reader.unsignedInteger("u", 15, 15) == 15u);
  CHECK(r.reader.size("z") == 0u);
  CHECK(r.lines().empty());
}

TEST_CASE("a size that is no size is reported in the words of the unit's reader") {
  Reading r(R"({"z": "4 KiB"})");
  CHECK_FALSE(r.reader.size("z"));
  CHECK(r.lines() ==
        "f:1:7: /o/z: \"4 KiB\" contains white space; write a whole number and B, KiB, MiB, GiB or TiB, as in 4KiB\n");
}

TEST_CASE("a name that is none of the allowed is reported with the one that was meant") {
  Reading r(R"({"m": "strct", "n": "other"})");
  CHECK_FALSE(r.reader.oneOf("m", kModes));
  CHECK_FALSE(r.reader.oneOf("n", kModes));
  CHECK(r.lines() ==
        "f:1:7: /o/m: expected one of \"strict\", \"compat\"; found \"strct\" (did you mean \"strict\"?)\n"
        "f:1:21: /o/n: expected one of \"strict\", \"compat\"; found \"other\"\n");
}

TEST_CASE("unknown keys are reported at the key with the one that was meant") {
  Reading r("{\"lenght\": 1,\n \"length\": 2, \"a/b\": 3}");
  r.reader.take("length");
  r.reader.take("opcode");
  CHECK(r.reader.unknownKeys() == std::vector<std::string>{"lenght", "a/b"});
  r.reader.finish(UnknownKeys::kIgnore);
  CHECK(r.lines().empty());
  r.reader.finish(UnknownKeys::kError);
  CHECK(r.lines() ==
        "f:1:2: /o/lenght: unknown key \"lenght\" (did you mean \"length\"?)\n"
        "f:2:15: /o/a~1b: unknown key \"a/b\"\n");
}

TEST_CASE("unknown keys may be warnings") {
  Reading r(R"({"x": 1})");
  r.reader.finish(UnknownKeys::kWarning);
  CHECK_FALSE(r.faults.hasErrors());
  CHECK(r.lines() == "f:1:2: /o/x: warning: unknown key \"x\"\n");
}

TEST_CASE("a required key that is absent is reported at the object") {
  Reading r("\n {\"a\": 1}");
  r.reader.require("a");
  r.reader.require("b");
  r.reader.finish(UnknownKeys::kError);
  CHECK(r.lines() == "f:2:2: /o: \"b\" is missing\n");
}

TEST_CASE("a reader's own faults stand at the value, or at the object where the key is absent") {
  Reading r(R"({"a": 1})", "");
  r.reader.fault("a", "bad");
  r.reader.warn("b", "odd");
  CHECK(r.lines() == "f:1:1: /: warning: odd\nf:1:7: /a: bad\n");
}

TEST_CASE("what is no object is reported once, and every getter gives nothing") {
  Reading r("[1]");
  CHECK_FALSE(r.reader.string("s"));
  CHECK(r.reader.array("a") == nullptr);
  r.reader.require("b");
  r.reader.finish(UnknownKeys::kError);
  CHECK(r.reader.unknownKeys().empty());
  CHECK(r.lines() == "f:1:1: /o: expected an object, found an array\n");
}

}  // namespace
}  // namespace tent
