// That JSON texts become the right values at the right places, and the limits hold. What is said about malformed ones:
// json_syntax_test.cc.
#include "config/json_value.h"

#include <limits>

#include <doctest/doctest.h>

namespace tent {
namespace {

using Kind = JsonValue::Kind;

struct Parsed {
  explicit Parsed(std::string_view text, size_t first_line = 1)
      : value(parseJson(text, faults, first_line)), lines(faults.format()) {}
  FaultList faults{"f"};
  std::optional<JsonValue> value;
  std::string lines;
};

JsonValue parseGood(std::string_view text) {
  Parsed parsed(text);
  REQUIRE_MESSAGE(parsed.value, parsed.lines);
  REQUIRE_MESSAGE(parsed.lines.empty(), parsed.lines);
  return std::move(*parsed.value);
}

std::string repeat(std::string_view part, size_t times) {
  std::string text;
  for (size_t i = 0; i < times; ++i) text += part;
  return text;
}

TEST_CASE("each kind of value is read") {
  const JsonValue value = parseGood(R"([null, true, false, 12, -12, 1.5, "s", [], {}])");
  REQUIRE(value.items.size() == 9);
  CHECK(value.items[0].kind == Kind::kNull);
  CHECK(value.items[1].boolean);
  CHECK(value.items[2].kind == Kind::kBool);
  CHECK_FALSE(value.items[2].boolean);
  CHECK(value.items[3].kind == Kind::kUnsigned);
  CHECK(value.items[3].unsigned_integer == 12);
  CHECK(value.items[4].kind == Kind::kInteger);
  CHECK(value.items[4].integer == -12);
  CHECK(value.items[5].kind == Kind::kDouble);
  CHECK(value.items[5].number == 1.5);
  CHECK(value.items[6].string == "s");
  CHECK(value.items[7].kind == Kind::kArray);
  CHECK(value.items[8].kind == Kind::kObject);
}

TEST_CASE("integers keep all their 64 bits") {
  const JsonValue value = parseGood("[18446744073709551615, -9223372036854775808, 9223372036854775808, -0, 1e2, -0.0]");
  CHECK(value.items[0].unsigned_integer == std::numeric_limits<uint64_t>::max());
  CHECK(value.items[1].integer == std::numeric_limits<int64_t>::min());
  CHECK(value.items[2].unsigned_integer == uint64_t{1} << 63);
  CHECK(value.items[3].kind == Kind::kUnsigned);
  CHECK(value.items[3].unsigned_integer == 0);
  CHECK(value.items[4].kind == Kind::kDouble);
  CHECK(value.items[5].kind == Kind::kDouble);
}

TEST_CASE("integers beyond 64 bits are each a fault, and reading goes on") {
  const Parsed parsed(R"({"a": 18446744073709551616, "b": [1, -9223372036854775809], "c": 3})");
  CHECK(parsed.lines ==
        "f:1:7: /a: the integer does not fit 64 bits\n"
        "f:1:38: /b/1: the integer does not fit 64 bits\n");
  REQUIRE(parsed.value);
  CHECK(parsed.value->find("a")->unsigned_integer == std::numeric_limits<uint64_t>::max());
  CHECK(parsed.value->find("b")->items[1].integer == std::numeric_limits<int64_t>::min());
  CHECK(parsed.value->find("c")->unsigned_integer == 3);
}

TEST_CASE("numbers beyond a double are a fault") {
  CHECK(Parsed("[1, 1e999]").lines == "f:1:5: /1: the number is too large for a double\n");
  CHECK(Parsed("[-1e999]").lines == "f:1:2: /0: the number is too large for a double\n");
  CHECK(Parsed("[" + std::string(400, '9') + "]").lines == "f:1:2: /0: the integer does not fit 64 bits\n");
  CHECK(parseGood("1e-999").number == 0);
}

TEST_CASE("every value and key knows its place") {
  const JsonValue value = parseGood(
      "\n"
      "{ \"a\" : 1,\r\n"
      "\t\"b\\\"\\\\\":\"x\\\\\\\"\\u20ac\\\\\"  ,\"c\":[true,\n"
      "-1.5e3,{}, [\n"
      "] ,null],\"\u20ac\":2}\n\n");
  CHECK(value.position == TextPosition{2, 1});
  REQUIRE(value.members.size() == 4);
  CHECK(value.members[0].position == TextPosition{2, 3});
  CHECK(value.members[0].value.position == TextPosition{2, 9});
  CHECK(value.members[1].key == "b\"\\");
  CHECK(value.members[1].position == TextPosition{3, 2});
  CHECK(value.members[1].value.position == TextPosition{3, 10});
  CHECK(value.members[1].value.string == "x\\\"\u20ac\\");
  CHECK(value.members[2].position == TextPosition{3, 28});
  const JsonValue& array = value.members[2].value;
  CHECK(array.position == TextPosition{3, 32});
  CHECK(array.items[0].position == TextPosition{3, 33});
  CHECK(array.items[1].position == TextPosition{4, 1});
  CHECK(array.items[2].position == TextPosition{4, 8});
  CHECK(array.items[3].position == TextPosition{4, 12});
  CHECK(array.items[4].position == TextPosition{5, 4});
  CHECK(value.members[3].position == TextPosition{5, 10});
  CHECK(value.members[3].value.position == TextPosition{5, 16});  // the key's euro sign has three bytes
}

TEST_CASE("numbers at the end of all kinds of texts know their place") {
  CHECK(parseGood("  12").position == TextPosition{1, 3});
  CHECK(parseGood("-7 ").position == TextPosition{1, 1});
  CHECK(parseGood("\n1.25e2\n").position == TextPosition{2, 1});
  const JsonValue dense = parseGood("[1,22,-3,4.5,6e7,0]");
  CHECK(dense.items[1].position.column == 4);
  CHECK(dense.items[2].position.column == 7);
  CHECK(dense.items[3].position.column == 10);
  CHECK(dense.items[4].position.column == 14);
  CHECK(dense.items[5].position.column == 18);
}

TEST_CASE("a text in the middle of a file counts from its line") {
  const Parsed parsed(R"({"a": 1, "a": 2})", 17);
  CHECK(parsed.lines == "f:17:10: /a: duplicate key; the first is in line 17\n");
}

TEST_CASE("a byte order mark is accepted at the start of a file and takes no column") {
  CHECK(parseGood("\xef\xbb\xbf[1]").items[0].position == TextPosition{1, 2});
  const std::string elsewhere = "a byte order mark; only the start of a file may have one\n";
  CHECK(Parsed("\xef\xbb\xbf[1]", 2).lines == "f:2:1: /: " + elsewhere);
  CHECK(Parsed("\xef\xbb\xbf\xef\xbb\xbf[1]").lines == "f:1:1: /: " + elsewhere);
  CHECK(Parsed("[1\xef\xbb\xbf]").lines == "f:1:3: /: " + elsewhere);
  CHECK(Parsed("\xef\xbb[1]").lines == "f:1:1: /: the invalid UTF-8 byte 0xef\n");
}

TEST_CASE("each duplicate key is a fault that names the first, and the first stays") {
  const Parsed parsed("{\"a\": 1,\n\"b\": {\"a\": 5},\n\"a\": {\"x\": 1, \"x\": 2},\n \"a\": 3, \"c\": 4}");
  CHECK(parsed.lines ==
        "f:3:1: /a: duplicate key; the first is in line 1\n"
        "f:3:15: /a/x: duplicate key; the first is in line 3\n"
        "f:4:2: /a: duplicate key; the first is in line 1\n");
  REQUIRE(parsed.value);
  REQUIRE(parsed.value->members.size() == 3);
  CHECK(parsed.value->find("a")->unsigned_integer == 1);
  CHECK(parsed.value->find("c")->unsigned_integer == 4);
}

TEST_CASE("keys that differ only in their escapes are duplicates") {
  CHECK(Parsed(R"({"a": 1, "\u0061": 2})").lines == "f:1:10: /a: duplicate key; the first is in line 1\n");
  CHECK(Parsed(R"({"": 1, "": 2})").faults.errorCount() == 1);
}

TEST_CASE("a hundred thousand keys are read, and their one duplicate found, in no time") {
  std::string text = "{";
  for (size_t i = 0; i < 100'000; ++i) text += "\"key" + std::to_string(i) + "\":" + std::to_string(i) + ",\n";
  const JsonValue value = parseGood(text + "\"last\":0}");
  CHECK(value.members.size() == 100'001);
  const Parsed duplicate(text + "\"key20\":0}");
  CHECK(duplicate.lines == "f:100001:1: /key20: duplicate key; the first is in line 21\n");
  CHECK(duplicate.value->members.size() == 100'000);
}

TEST_CASE("duplicates are found on both sides of the size where hashing begins") {
  for (size_t keys = 1; keys < 40; ++keys) {
    for (size_t copy = 0; copy < keys; ++copy) {
      std::string text = "{";
      for (size_t i = 0; i < keys; ++i) text += "\"" + std::to_string(i) + "\":0,";
      text += "\"" + std::to_string(copy) + "\":0,\"" + std::to_string(copy) + "\":0,\"z\":0}";
      const Parsed parsed(text);
      REQUIRE(parsed.faults.errorCount() == 2);
      REQUIRE(parsed.value->members.size() == keys + 1);
    }
  }
}

TEST_CASE("nesting up to the limit is accepted, and one more is one fault at its bracket") {
  CHECK(parseGood(repeat("[", 64) + repeat("]", 64)).kind == Kind::kArray);
  const Parsed arrays(repeat("[", 65) + repeat("]", 65));
  CHECK(arrays.lines == "f:1:65: " + repeat("/0", 64) + ": nested deeper than 64\n");
  CHECK_FALSE(arrays.value);
  CHECK(parseGood(repeat("{\"a\":", 64) + "1" + repeat("}", 64)).kind == Kind::kObject);
  const Parsed objects(repeat("{\"a\":", 65) + "1" + repeat("}", 65));
  CHECK(objects.lines == "f:1:321: " + repeat("/a", 64) + ": nested deeper than 64\n");
}

TEST_CASE("a hundred thousand levels are one fault, complete or truncated") {
  for (const std::string_view level : {"[", "{\"a\":", "[{\"a\":"}) {
    const Parsed parsed(repeat(level, 100'000));
    CHECK(parsed.faults.errorCount() == 1);
    CHECK(parsed.lines.ends_with(": nested deeper than 64\n"));
    CHECK_FALSE(parsed.value);
  }
}

TEST_CASE("a text of more values than allowed is one fault, at the first too many") {
  FaultList faults("f");
  CHECK(parseJson("[{\"a\": 1},\n2]", faults, 1, 4));
  CHECK(faults.faults().empty());
  CHECK_FALSE(parseJson("[{\"a\": 1},\n2, 3, 4]", faults, 1, 4));
  CHECK(faults.format() == "f:2:4: /2: more than 4 values in one text\n");
}

TEST_CASE("a string of many megabytes is read, or said to be truncated at its end") {
  const std::string long_text(4u << 20, 'x');
  CHECK(parseGood("[\"" + long_text + "\"]").items[0].string == long_text);
  CHECK(Parsed("[\"" + long_text).lines == "f:1:4194307: /0: the text ends inside a string; is it truncated?\n");
}

TEST_CASE("escapes in strings are decoded") {
  const JsonValue value = parseGood(R"(["\"\\\/\b\f\n\r\t", "\u0041\u00e9\u20AC\ud83d\uDE00", "\u0000"])");
  CHECK(value.items[0].string == "\"\\/\b\f\n\r\t");
  CHECK(value.items[1].string == "A\u00e9\u20ac\U0001f600");
  CHECK(value.items[2].string == std::string(1, '\0'));
}

TEST_CASE("a member is found by its key, else nothing is") {
  const JsonValue value = parseGood(R"({"a": 1, "b": 2})");
  REQUIRE(value.find("b") != nullptr);
  CHECK(value.find("b")->unsigned_integer == 2);
  CHECK(value.find("c") == nullptr);
  CHECK(JsonValue{}.find("c") == nullptr);
}

TEST_CASE("steps of a pointer are escaped") {
  CHECK(pointerTo("/a", "b") == "/a/b");
  CHECK(pointerTo("", "a/b~c") == "/a~1b~0c");
  CHECK(pointerTo("", "") == "/");
  CHECK(pointerTo("/a", 3) == "/a/3");
}

}  // namespace
}  // namespace tent
