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
