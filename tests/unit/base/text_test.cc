#include "base/text.h"

#include <array>

#include <doctest/doctest.h>

using namespace std::string_literals;

namespace tent {
namespace {

constexpr std::array<std::string_view, 5> kNames{"rdma", "tcp", "shm", "strict", "requested_priority"};

TEST_CASE("a suggestion is at most a third of the word's letters away") {
  CHECK(didYouMean("rmda", kNames) == "rdma");  // a swap counts once
  CHECK(didYouMean("strct", kNames) == "strict");
  CHECK(didYouMean("tcpp", kNames) == "tcp");
  CHECK(didYouMean("stric", kNames) == "strict");
  CHECK(didYouMean("requestedPriority", kNames) == "requested_priority");
  CHECK_FALSE(didYouMean("udp", kNames));
  CHECK_FALSE(didYouMean("compat", kNames));
  CHECK_FALSE(didYouMean("rdxx", kNames));
}

TEST_CASE("a suggestion ignores case, and costs a short word nothing but case") {
  CHECK(didYouMean("STRICT", kNames) == "strict");
  constexpr std::array<std::string_view, 1> kShort{"ns"};
  CHECK(didYouMean("NS", kShort) == "ns");
  CHECK_FALSE(didYouMean("us", kShort));
  CHECK_FALSE(didYouMean("", kShort));
}

TEST_CASE("the nearest candidate is suggested, and of equally near ones the first") {
  constexpr std::array<std::string_view, 3> kNear{"length", "lengths", "lenxth"};
  CHECK(didYouMean("lengths", kNear) == "lengths");
  CHECK(didYouMean("lenth", kNear) == "length");
  CHECK_FALSE(didYouMean("length", {}));
}

TEST_CASE("a word far longer than every candidate costs no time") {
  CHECK_FALSE(didYouMean(std::string(50'000'000, 'a'), kNames));
}

TEST_CASE("a quoted word carries its suggestion") {
  CHECK(quoteWithSuggestion("rmda", kNames) == R"("rmda" (did you mean "rdma"?))");
  CHECK(quoteWithSuggestion("udp", kNames) == R"("udp")");
  CHECK(quoteWithSuggestion(std::string(1000, 'a'), {}).size() == 82);
}

TEST_CASE("a text is shortened between characters") {
  CHECK(shorten("abcdef", 6) == "abcdef");
  CHECK(shorten("abcdefg", 6) == "abc...");
  CHECK(shorten("a\u20acbcdefg", 6) == "a...");  // the three bytes of the euro sign do not fit
  CHECK(shorten("abcd", 3) == "...");
}

TEST_CASE("what a terminal would act on is escaped") {
  CHECK(escapeForTerminal("plain text, \\ and \u20ac") == "plain text, \\ and \u20ac");
  CHECK(escapeForTerminal("\x1b[31m") == "\\x1b[31m");
  CHECK(escapeForTerminal("a\nb\tc\x7f\0d"s) == "a\\x0ab\\x09c\\x7f\\x00d");
  CHECK(escapeForTerminal("\xc2\x9b") == "\\u009b");
  CHECK(escapeForTerminal("\u202egpj.exe\u2069") == "\\u202egpj.exe\\u2069");
  CHECK(escapeForTerminal("\u2028\u200f\ufeff") == "\\u2028\\u200f\\ufeff");
  CHECK(escapeForTerminal("a\xff\xc3(") == "a\\xff\\xc3(");
  CHECK(escapeForTerminal("\xed\xa0\x80") == "\\xed\\xa0\\x80");
}

TEST_CASE("text that is not UTF-8 is found at the first byte of the broken sequence") {
  CHECK_FALSE(findInvalidUtf8(""));
  CHECK_FALSE(findInvalidUtf8("a\u00e9\u20ac\U0001f600\U0010ffff"));
  CHECK(findInvalidUtf8("ab\xff") == 2);
  CHECK(findInvalidUtf8("ab\x80") == 2);
  CHECK(findInvalidUtf8("a\xe2\x82") == 1);         // cut
  CHECK(findInvalidUtf8("a\xe2\x28\x80") == 1);     // no continuation
  CHECK(findInvalidUtf8("\xc0\xaf") == 0);          // overlong
  CHECK(findInvalidUtf8("\xe0\x80\xaf") == 0);      // overlong
  CHECK(findInvalidUtf8("\xf0\x80\x80\xaf") == 0);  // overlong
  CHECK(findInvalidUtf8("\xed\xa0\x80") == 0);      // a surrogate
  CHECK(findInvalidUtf8("\xf4\x90\x80\x80") == 0);  // above U+10FFFF
  CHECK(findInvalidUtf8("\xf5\x80\x80\x80") == 0);
}

TEST_CASE("lower case and trimming touch ASCII alone") {
  CHECK(toLowerAscii("AZaz09_\xc3\x84") == "azaz09_\xc3\x84");
  CHECK(trimAscii(" \t\r\n\v\f a b \n") == "a b");
  CHECK(trimAscii(" \n").empty());
  CHECK(trimAscii("\u00a0x") == "\u00a0x");
}

TEST_CASE("bytes are written in hex and read back, in either case") {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all.push_back(static_cast<char>(byte));
  CHECK(toHex(std::string_view("\x00\x7f\xff", 3)) == "007fff");
  CHECK(fromHex(toHex(all)) == all);
  CHECK(fromHex("aBCd") == std::string("\xab\xcd"));
  CHECK(fromHex("") == "");
  for (const char* wrong : {"0", "0g", "g0", " 0", "0x", "abc"}) CHECK_FALSE(fromHex(wrong));
}

}  // namespace
}  // namespace tent
