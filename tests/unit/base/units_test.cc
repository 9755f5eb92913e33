#include "base/units.h"

#include <cstdint>

#include <doctest/doctest.h>

namespace tent {
namespace {

std::string sizeFault(std::string_view text) {
  const auto parsed = parseSize(text);
  return parsed ? "none" : parsed.error();
}

std::string durationFault(std::string_view text) {
  const auto parsed = parseDuration(text);
  return parsed ? "none" : parsed.error();
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("sizes are 1024-based in every spelling and case") {
  CHECK(parseSize("0") == 0u);
  CHECK(parseSize("4096") == 4096u);
  CHECK(parseSize("4B") == 4u);
  for (const char* text : {"4K", "4KB", "4KiB", "4k", "4kb", "4kib", "4KIB"}) CHECK(parseSize(text) == 4096u);
  CHECK(parseSize("3MiB") == 3u << 20);
  CHECK(parseSize("1G") == 1u << 30);
  CHECK(parseSize("2TB") == uint64_t{2} << 40);
  CHECK(parseSize("007K") == 7u << 10);
}

TEST_CASE("a size may be as large as 64 bits and no larger") {
  CHECK(parseSize("18446744073709551615") == UINT64_MAX);
  CHECK(parseSize("16777215TiB") == uint64_t{16777215} << 40);
  CHECK(contains(sizeFault("18446744073709551616"), "too large"));
  CHECK(contains(sizeFault("16777216TiB"), "too large"));
  CHECK(contains(sizeFault("99999999999999999999999999999K"), "too large"));
}

TEST_CASE("the fault of a size says what is wrong and how to write it") {
  CHECK(sizeFault("") == "is empty; write a whole number and B, KiB, MiB, GiB or TiB, as in 4KiB");
  CHECK(contains(sizeFault("4 KiB"), "\"4 KiB\" contains white space"));
  CHECK(contains(sizeFault(" 4"), "white space"));
  CHECK(contains(sizeFault("-4"), "\"-4\" is negative"));
  CHECK(contains(sizeFault("+4"), "\"+4\" is not a size"));
  CHECK(contains(sizeFault("KiB"), "\"KiB\" is not a size"));
  CHECK(contains(sizeFault("1.5GiB"), "\"1.5GiB\" is not a whole number"));
  CHECK(contains(sizeFault("1e3"), "unknown unit \"e3\""));
  CHECK(contains(sizeFault("4PB"), "unknown unit \"PB\""));
  CHECK(contains(sizeFault("0x10"), "unknown unit \"x10\""));
}

TEST_CASE("durations take each unit") {
  CHECK(parseDuration("10ns") == 10u);
  CHECK(parseDuration("250us") == 250'000u);
  CHECK(parseDuration("5ms") == 5'000'000u);
  CHECK(parseDuration("2s") == 2'000'000'000u);
  CHECK(parseDuration("3min") == 180'000'000'000u);
  CHECK(parseDuration("1h") == 3'600'000'000'000u);
  CHECK(parseDuration("0s") == 0u);
  CHECK(parseDuration("5MS") == 5'000'000u);
}

TEST_CASE("a duration above 64 bits of nanoseconds is a fault") {
  CHECK(parseDuration("18446744073709551615ns") == UINT64_MAX);
  CHECK(parseDuration("18446744073s") == 18'446'744'073'000'000'000u);
  CHECK(contains(durationFault("18446744074s"), "too large; at most 2^64-1 ns"));
  CHECK(contains(durationFault("18446744073709551616ns"), "too large"));
}

TEST_CASE("the fault of a duration says what is wrong and how to write it") {
  CHECK(durationFault("5") == "\"5\" has no unit; write a whole number and ns, us, ms, s, min or h, as in 5ms");
  CHECK(contains(durationFault(""), "is empty"));
  CHECK(contains(durationFault("5 ms"), "white space"));
  CHECK(contains(durationFault("-5ms"), "negative"));
  CHECK(contains(durationFault("1e3"), "unknown unit \"e3\""));
  CHECK(contains(durationFault("5m"), "unknown unit \"m\""));
  CHECK(contains(durationFault("0.5s"), "not a whole number"));
  CHECK(contains(durationFault("ms"), "is not a duration"));
}

TEST_CASE("sizes are written exactly, in the largest unit that divides") {
  CHECK(formatSize(0) == "0 B");
  CHECK(formatSize(1) == "1 B");
  CHECK(formatSize(65537) == "65537 B");
  CHECK(formatSize(4u << 20) == "4 MiB");
  CHECK(formatSize(1536) == "1536 B");
  CHECK(formatSize(uint64_t{1} << 60) == "1048576 TiB");
  CHECK(formatSize(UINT64_MAX) == "18446744073709551615 B");
}

TEST_CASE("durations are written exactly") {
  CHECK(formatDuration(0) == "0 ns");
  CHECK(formatDuration(999) == "999 ns");
  CHECK(formatDuration(1500) == "1.5 us");
  CHECK(formatDuration(5'000'000) == "5 ms");
  CHECK(formatDuration(5'000'001) == "5.000001 ms");
  CHECK(formatDuration(1'000'000'001) == "1.000000001 s");
  CHECK(formatDuration(90'000'000'000) == "90 s");
  CHECK(formatDuration(UINT64_MAX) == "18446744073.709551615 s");
}

}  // namespace
}  // namespace tent
