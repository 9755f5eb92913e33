#include "report/json_writer.h"

#include <doctest/doctest.h>

namespace tent {
namespace {

template <typename Write>
std::string written(Write write) {
  std::string text;
  JsonWriter json(text);
  write(json);
  return text;
}

TEST_CASE("containers are separated as JSON wants it, empty ones too") {
  CHECK(written([](JsonWriter& json) {
          json.beginObject();
          json.key("a");
          json.beginArray();
          json.integer(-1), json.unsignedInteger(UINT64_MAX), json.null(), json.boolean(true);
          json.beginObject();
          json.endObject();
          json.endArray();
          json.field("b", "x");
          json.nullField("c");
          json.endObject();
        }) == R"({"a":[-1,18446744073709551615,null,true,{}],"b":"x","c":null})");
}

TEST_CASE("control characters, quotes and bytes that are not UTF-8 are written so that any reader takes them") {
  CHECK(written([](JsonWriter& json) {
          json.string(
              "a\xff"
              "b\xc3");
        }) ==
        "\"a\xEF\xBF\xBD"
        "b\xEF\xBF\xBD\"");
  CHECK(written([](JsonWriter& json) { json.string("\x1b[31m\n\"\\"); }) == R"("\u001b[31m\n\"\\")");
  CHECK(written([](JsonWriter& json) { json.string(std::string_view("\0é", 3)); }) == "\"\\u0000é\"");
}

TEST_CASE("what would act on a terminal is escaped, other text beyond ASCII is not") {
  CHECK(written([](JsonWriter& json) { json.string("\xc2\x9b[31m \xe2\x80\xae \xe2\x81\xa9 \xe2\x80\x8f"); }) ==
        R"("\u009b[31m \u202e \u2069 \u200f")");
  CHECK(written([](JsonWriter& json) { json.string("\xc2\xb5s \xe2\x82\xac \xe2\x80\x93 \xf0\x9f\x9a\x80"); }) ==
        "\"\xc2\xb5s \xe2\x82\xac \xe2\x80\x93 \xf0\x9f\x9a\x80\"");
}

TEST_CASE("a line break stands before the next value or end") {
  CHECK(written([](JsonWriter& json) {
          json.beginArray();
          for (int i = 0; i < 2; ++i) json.breakLine(), json.integer(i);
          json.breakLine();
          json.endArray();
        }) == "[\n0,\n1\n]");
}

}  // namespace
}  // namespace tent
