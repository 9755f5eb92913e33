#include "base/units.h"

#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "base/text.h"

namespace tent {
namespace {

struct Unit {
  std::string_view name;  // lower case
  uint64_t factor;
};

constexpr uint64_t kKi = 1024;
constexpr std::array<Unit, 14> kSizeUnits{{{"", 1},
                                           {"b", 1},
                                           {"k", kKi},
                                           {"kb", kKi},
                                           {"kib", kKi},
                                           {"m", kKi* kKi},
                                           {"mb", kKi* kKi},
                                           {"mib", kKi* kKi},
                                           {"g", kKi* kKi* kKi},
                                           {"gb", kKi* kKi* kKi},
                                           {"gib", kKi* kKi* kKi},
                                           {"t", kKi* kKi* kKi* kKi},
                                           {"tb", kKi* kKi* kKi* kKi},
                                           {"tib", kKi* kKi* kKi* kKi}}};

constexpr std::array<Unit, 6> kDurationUnits{{{"ns", 1},
                                              {"us", 1'000},
                                              {"ms", 1'000'000},
                                              {"s", 1'000'000'000},
                                              {"min", 60'000'000'000},
                                              {"h", 3'600'000'000'000}}};

// What differs between sizes and durations in what is said about a faulty one.
struct Kind {
  std::span<const Unit> units;
  std::string_view name;      // "a size"
  std::string_view spelling;  // how to write one
  std::string_view base;      // the unit of the result, in its full name
};

constexpr Kind kSize{kSizeUnits, "a size", "write a whole number and B, KiB, MiB, GiB or TiB, as in 4KiB", "bytes"};
constexpr Kind kDuration{kDurationUnits, "a duration", "write a whole number and ns, us, ms, s, min or h, as in 5ms",
                         "ns"};

bool isDigit(char c) {
  return c >= '0' && c <= '9';
}

// Why what follows the digits, or stands in their place, is no unit.
std::string describeFault(const Kind& kind, std::string_view text, std::string_view rest) {
  if (text.empty()) return fmt::format("is empty; {}", kind.spelling);
  const std::string quoted = quoteWithSuggestion(text, {});
  if (text.front() == '-') return fmt::format("{} is negative; {}", quoted, kind.spelling);
  if (text.find_first_of(" \t\r\n") != std::string_view::npos) {
    return fmt::format("{} contains white space; {}", quoted, kind.spelling);
  }
  if (rest.size() == text.size()) return fmt::format("{} is not {}; {}", quoted, kind.name, kind.spelling);
  if (rest.empty()) return fmt::format("{} has no unit; {}", quoted, kind.spelling);
  if (rest.front() == '.') return fmt::format("{} is not a whole number; {}", quoted, kind.spelling);
  return fmt::format("{} has the unknown unit {}; {}", quoted, quoteWithSuggestion(rest, {}), kind.spelling);
}

tl::expected<uint64_t, std::string> parse(const Kind& kind, std::string_view text) {
  size_t digits = 0;
  while (digits < text.size() && isDigit(text[digits])) ++digits;
  const std::string_view rest = text.substr(digits);
  const std::string name = toLowerAscii(rest);
  std::optional<uint64_t> factor;
  for (const Unit& unit : kind.units) {
    if (name == unit.name) factor = unit.factor;
  }
  if (digits == 0 || !factor) return tl::unexpected(describeFault(kind, text, rest));

  uint64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + digits, count);
  if (error != std::errc{} || count > std::numeric_limits<uint64_t>::max() / *factor) {
    return tl::unexpected(
        fmt::format("{} is too large; at most 2^64-1 {} fit", quoteWithSuggestion(text, {}), kind.base));
  }
  return count * *factor;
}

}  // namespace

tl::expected<uint64_t, std::string> parseSize(std::string_view text) {
  return parse(kSize, text);
}

tl::expected<uint64_t, std::string> parseDuration(std::string_view text) {
  return parse(kDuration, text);
}

std::string formatSize(uint64_t bytes) {
  constexpr std::array<std::string_view, 5> kNames{"B", "KiB", "MiB", "GiB", "TiB"};
  size_t unit = 0;
  while (bytes != 0 && bytes % kKi == 0 && unit + 1 < kNames.size()) {
    bytes /= kKi;
    ++unit;
  }
  return fmt::format("{} {}", bytes, kNames[unit]);
}

std::string formatDuration(uint64_t ns) {
  constexpr size_t kSeconds = 3;
  size_t unit = kSeconds;
  while (unit > 0 && ns < kDurationUnits[unit].factor) --unit;
  const uint64_t factor = kDurationUnits[unit].factor;
  std::string number = fmt::format("{}", ns / factor);
  if (const uint64_t fraction = ns % factor; fraction != 0) {
    number += fmt::format(".{:0{}}", fraction, 3 * unit);
    number.erase(number.find_last_not_of('0') + 1);
  }
  return fmt::format("{} {}", number, kDurationUnits[unit].name);
}

}  // namespace tent
