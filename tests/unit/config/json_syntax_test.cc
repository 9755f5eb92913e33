// What is said about texts that are not JSON, and where.
#include "config/json_syntax.h"

#include <random>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "config/json_value.h"

using namespace std::string_literals;

namespace tent {
namespace {

// The one fault of `text`, without the file's name.
std::string faultOf(std::string_view text) {
  FaultList faults("f");
  const auto value = parseJson(text, faults);
  CHECK_FALSE(value);
  REQUIRE(faults.faults().size() == 1);
  const std::string line = faults.format(faults.faults()[0]);
  return line.substr(2);
}

constexpr std::string_view kSample = R"({
  "schema_version": 1, "tenant": "a\"\\\u20ac\ud83d\ude00b",
  "list": [true, false, null, -12.5e+3, 0, "", {}, [ ], {"k": [1]}],
  "\u00e4€": {"x": "é", "y": 18446744073709551615}
})";

TEST_CASE("an empty text is a fault at its start") {
  CHECK(faultOf("") == "1:1: /: the text is empty, where a JSON value is expected");
  CHECK(faultOf(" \n ") == "2:2: /: the text is empty, where a JSON value is expected");
  CHECK(faultOf("\xef\xbb\xbf") == "1:1: /: the text is empty, where a JSON value is expected");
}

TEST_CASE("a text that ends too early is said to be truncated, in what, and at its end") {
  CHECK(faultOf("[1,\n 2") == "2:3: /: the text ends inside an array; is it truncated?");
  CHECK(faultOf("[1,") == "1:4: /1: the text ends inside an array; is it truncated?");
  CHECK(faultOf("{") == "1:2: /: the text ends inside an object; is it truncated?");
  CHECK(faultOf("{\"a\": {\"b\":") == "1:12: /a/b: the text ends inside an object; is it truncated?");
  CHECK(faultOf("{\"a") == "1:4: /: the text ends inside a string; is it truncated?");
  CHECK(faultOf("[\"a\\") == "1:5: /0: the text ends inside a string; is it truncated?");
  CHECK(faultOf("[\"\\ud83d\\u") == "1:11: /0: the text ends inside a string; is it truncated?");
  CHECK(faultOf("[\"\xe2\x82") == "1:5: /0: the text ends inside a string; is it truncated?");
  CHECK(faultOf("[-") == "1:3: /0: the text ends inside a number; is it truncated?");
  CHECK(faultOf("[1.") == "1:4: /0: the text ends inside a number; is it truncated?");
  CHECK(faultOf("[1e+") == "1:5: /0: the text ends inside a number; is it truncated?");
  CHECK(faultOf("[tru") == "1:5: /0: the text ends inside \"true\"; is it truncated?");
}

TEST_CASE("a text truncated at any byte is one fault, at its end") {
  FaultList none("f");
  REQUIRE(parseJson(kSample, none));
  REQUIRE(none.faults().empty());
  for (size_t size = 0; size < kSample.size(); ++size) {
    CAPTURE(size);
    FaultList faults("f");
    const std::string text(kSample.substr(0, size));
    CHECK_FALSE(parseJson(text, faults));
    REQUIRE(faults.faults().size() == 1);
    const size_t lines = static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
    const size_t line_start = lines == 0 ? 0 : text.rfind('\n') + 1;
    CHECK(faults.faults()[0].position == TextPosition{lines + 1, size - line_start + 1});
    const std::string& message = faults.faults()[0].message;
    CHECK_MESSAGE((message.find("truncated") != std::string::npos || size == 0), message);
  }
}

TEST_CASE("missing and surplus separators are named with what stands there") {
  CHECK(faultOf("[1 2]") == "1:4: /: expected ',' or ']', found a number");
  CHECK(faultOf("[1\n\"a\"]") == "2:1: /: expected ',' or ']', found a string");
  CHECK(faultOf("{\"a\": 1 \"b\": 2}") == "1:9: /: expected ',' or '}', found a string");
  CHECK(faultOf("{\"a\" 1}") == "1:6: /: expected ':' after the key, found a number");
  CHECK(faultOf("{\"a\": 1]") == "1:8: /: expected ',' or '}', found ']'");
  CHECK(faultOf("[1}") == "1:3: /: expected ',' or ']', found '}'");
  CHECK(faultOf("[1,,2]") == "1:4: /1: expected a value, found ','");
  CHECK(faultOf("[,1]") == "1:2: /0: expected a value, found ','");
  CHECK(faultOf("{\"a\"::1}") == "1:6: /a: expected a value, found ':'");
  CHECK(faultOf("{\"a\":}") == "1:6: /a: expected a value, found '}'");
  CHECK(faultOf("[1, 2,]") == "1:7: /2: a comma before ']'; the last comma must go");
  CHECK(faultOf("{\"a\": 1,\n}") == "2:1: /: a comma before '}'; the last comma must go");
  CHECK(faultOf("{,}") == "1:2: /: expected a key in double quotes, found ','");
  CHECK(faultOf("]") == "1:1: /: expected a value, found ']'");
}

TEST_CASE("keys without double quotes are named") {
  CHECK(faultOf("{a: 1}") == "1:2: /: expected a key in double quotes, found \"a\"");
  CHECK(faultOf("{1: 1}") == "1:2: /: expected a key in double quotes, found a number");
  CHECK(faultOf("{'a': 1}") == "1:2: /: a single quote; strings take double quotes");
  CHECK(faultOf("{\"b\": 1, c: 1}") == "1:10: /: expected a key in double quotes, found \"c\"");
}

TEST_CASE("words that are no values are named, with the one that was meant") {
  CHECK(faultOf("[True]") ==
        "1:2: /0: expected a value, found the word \"True\" (did you mean \"true\"?); strings take double quotes");
  CHECK(faultOf("{\"a\": rdma}") == "1:7: /a: expected a value, found the word \"rdma\"; strings take double quotes");
  CHECK(faultOf("[nul]") ==
        "1:2: /0: expected a value, found the word \"nul\" (did you mean \"null\"?); strings take double quotes");
  CHECK(faultOf("[nulll]") == "1:6: /: expected ',' or ']', found \"l\"");
  CHECK(faultOf("[NaN]") == "1:2: /0: NaN is not JSON");
  CHECK(faultOf("[Infinity]") == "1:2: /0: Infinity is not JSON");
  CHECK(faultOf("[-Infinity]") == "1:2: /0: -Infinity is not JSON");
}

TEST_CASE("malformed numbers are named at the wrong byte") {
  CHECK(faultOf("[01]") == "1:3: /: a number must not start with 0");
  CHECK(faultOf("-012") == "1:3: /: a number must not start with 0");
  CHECK(faultOf("[+1]") == "1:2: /0: a number must not start with '+'");
  CHECK(faultOf("[.5]") == "1:2: /0: a number must not start with '.'");
  CHECK(faultOf("[1.]") == "1:4: /0: expected a digit, found ']'");
  CHECK(faultOf("[1.x]") == "1:4: /0: expected a digit, found \"x\"");
  CHECK(faultOf("[-a]") == "1:3: /0: expected a digit, found \"a\"");
  CHECK(faultOf("[1e,2]") == "1:4: /0: expected a digit, found ','");
  CHECK(faultOf("[1-2]") == "1:3: /: expected ',' or ']', found a number");
  CHECK(faultOf("[0x10]") == "1:3: /: expected ',' or ']', found \"x10\"");
}

TEST_CASE("malformed strings are named at the wrong byte") {
  CHECK(faultOf("[\"a\nb\"]") == "1:4: /0: the line ends inside a string; is a closing quote missing?");
  CHECK(faultOf("[\"a\tb\"]") == "1:4: /0: the control character 0x09 inside a string; write \\u0009");
  CHECK(faultOf("[\"a\\x\"]") == "1:4: /0: unknown escape: a backslash before \"x\"; write \\\\ for a backslash");
  CHECK(faultOf("[\"\\u12g4\"]") == "1:3: /0: \\u takes four hexadecimal digits");
  CHECK(faultOf("[\"\\ud800\"]") == "1:3: /0: \\ud800 is half of a surrogate pair; write both halves");
  CHECK(faultOf("[\"\\ud800\\u0041\"]") == "1:3: /0: \\ud800 is half of a surrogate pair; write both halves");
  CHECK(faultOf("[\"\\uDC00\"]") == "1:3: /0: \\uDC00 is half of a surrogate pair; write both halves");
  CHECK(faultOf("{\"a\\q\": 1}") == "1:4: /: unknown escape: a backslash before \"q\"; write \\\\ for a backslash");
}

TEST_CASE("bytes that may stand nowhere are named") {
  CHECK(faultOf("[\"a\xff\"]") == "1:4: /0: the invalid UTF-8 byte 0xff");
  CHECK(faultOf("[\"\xc3(\"]") == "1:3: /0: the invalid UTF-8 byte 0xc3");
  CHECK(faultOf("{\"\xed\xa0\x80\": 1}") == "1:3: /: the invalid UTF-8 byte 0xed");
  CHECK(faultOf("\xff\xfe[") == "1:1: /: the invalid UTF-8 byte 0xff");
  CHECK(faultOf("[1, \xfe]") == "1:5: /1: the invalid UTF-8 byte 0xfe");
  CHECK(faultOf("[1\xfe]") == "1:3: /: the invalid UTF-8 byte 0xfe");
  CHECK(faultOf("[\"a\0b\"]"s) == "1:4: /0: a NUL byte");
  CHECK(faultOf("{\"a\": 1\0}"s) == "1:8: /: a NUL byte");
  CHECK(faultOf("\0"s) == "1:1: /: a NUL byte");
  CHECK(faultOf("{}\n\0"s) == "2:1: /: a NUL byte");
  CHECK(faultOf("{}\0 {}"s) == "1:3: /: a NUL byte");
  CHECK(faultOf("[\x01]") == "1:2: /0: expected a value, found the control character 0x01");
  CHECK(faultOf("[\u00e9]") == "1:2: /0: expected a value, found '\u00e9'");
}

TEST_CASE("comments are named as such") {
  CHECK(faultOf("// hi\n{}") == "1:1: /: a comment; JSON has none");
  CHECK(faultOf("{ /* hi */ }") == "1:3: /: a comment; JSON has none");
  CHECK(faultOf("[1, # hi\n2]") == "1:5: /1: a comment; JSON has none");
  CHECK(faultOf("{} // end") == "1:4: /: a comment; JSON has none");
}

TEST_CASE("text after the value is a fault at its place") {
  CHECK(faultOf("{}\n{}") == "2:1: /: text after the end of the JSON value: '{'");
  CHECK(faultOf("1 2") == "1:3: /: text after the end of the JSON value: a number");
  CHECK(faultOf("[1]]") == "1:4: /: text after the end of the JSON value: ']'");
  CHECK(faultOf("{}\n\n  \"a\"") == "3:3: /: text after the end of the JSON value: a string");
}

TEST_CASE("exactly the texts that the library takes are taken, and each other is one fault") {
  // Bytes that make most of the trouble come up most often; a NUL, which the library takes for the end, does not.
  constexpr std::string_view kBytes = "{}[]:,\"\\u0019ed8.-+ \n\ttrfn/\x01\x1f\x7f\x80\xbf\xc3\xe2\xed\xef\xf0\xff";
  std::mt19937 random(20240501);
  const auto below = [&](size_t bound) { return std::uniform_int_distribution<size_t>(0, bound - 1)(random); };
  size_t accepted = 0;
  constexpr size_t kRounds = 20'000;
  for (size_t round = 0; round < kRounds; ++round) {
    std::string text(kSample);
    for (size_t edits = 1 + below(3); edits > 0; --edits) {
      const size_t at = below(text.size());
      const char byte = kBytes[below(kBytes.size())];
      switch (below(5)) {
        case 0: text.insert(at, 1, byte); break;
        case 1: text.erase(at, 1 + below(4)); break;
        case 2: text[at] = byte; break;
        case 3: std::swap(text[at], text[below(text.size())]); break;
        default: text.insert(at, text.substr(below(text.size()), 1 + below(8)));
      }
    }
    FaultList faults("f");
    const bool parsed = parseJson(text, faults).has_value();
    CAPTURE(text);
    REQUIRE(parsed == nlohmann::json::accept(text));
    accepted += parsed ? 1 : 0;
    size_t syntax_faults = 0;
    for (const Fault& fault : faults.faults()) {
      const bool goes_on =
          fault.message.starts_with("duplicate key") || fault.message.ends_with("does not fit 64 bits");
      if (!goes_on) ++syntax_faults;
      // The explanation that is left when the library and the explainer disagree.
      REQUIRE_FALSE(fault.message.starts_with("this "));
      const size_t lines = static_cast<size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
      REQUIRE(fault.position.line <= lines);
    }
    REQUIRE(syntax_faults == (parsed ? 0 : 1));
  }
  // Else the comparison would say little about one side.
  CHECK(accepted > kRounds / 20);
  CHECK(accepted < kRounds / 2);
}

}  // namespace
}  // namespace tent
