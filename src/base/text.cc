#include "base/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <vector>

namespace tauto {
namespace {

struct UnitName {
  std::string_view name;
  double factor;
};

/// Splits "1.5ms" into 1.5 and "ms". Returns the unit, or nullptr text end when no digits lead.
bool split_number(std::string_view text, double& number, std::string_view& unit) {
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc{} || !std::isfinite(number)) return false;
  unit = text.substr(static_cast<std::size_t>(end - text.data()));
  return true;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row[b.size()];
}

}  // namespace

Result<Duration> parse_duration(std::string_view text) {
  static constexpr std::array<UnitName, 6> kUnits{
      {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}}};
  const Error refused{Code::kInvalidArgument, "'" + std::string(text) +
                                                  "' is not a duration: write a number with a unit "
                                                  "(ns us ms s m h), for example 5ms"};
  double number = 0;
  std::string_view unit;
  if (!split_number(text, number, unit) || number < 0) return refused;
  if (unit.empty() && number == 0) return Duration::zero();
  for (const auto& known : kUnits) {
    if (unit != known.name) continue;
    const double ns = number * known.factor;
    if (ns > 9e18) return refused;
    return Duration{static_cast<std::int64_t>(std::llround(ns))};
  }
  return refused;
}

Result<std::uint64_t> parse_bytes(std::string_view text) {
  static constexpr std::array<UnitName, 10> kUnits{{{"", 1},
                                                    {"B", 1},
                                                    {"KB", 1e3},
                                                    {"MB", 1e6},
                                                    {"GB", 1e9},
                                                    {"KiB", 1024.},
                                                    {"MiB", 1048576.},
                                                    {"GiB", 1073741824.},
                                                    {"kB", 1e3},
                                                    {"k", 1e3}}};
  double number = 0;
  std::string_view unit;
  if (split_number(text, number, unit) && number >= 0) {
    for (const auto& known : kUnits) {
      if (unit == known.name && number * known.factor < 9e18) {
        return static_cast<std::uint64_t>(number * known.factor);
      }
    }
  }
  return Error{Code::kInvalidArgument, "'" + std::string(text) +
                                           "' is not a size: write bytes or a number with a unit "
                                           "(KiB MiB GiB KB MB GB), for example 64MiB"};
}

Result<std::uint64_t> parse_count(std::string_view text, std::uint64_t low, std::uint64_t high) {
  std::uint64_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure == std::errc{} && end == text.data() + text.size() && number >= low &&
      number <= high) {
    return number;
  }
  return Error{Code::kInvalidArgument, "'" + std::string(text) + "' is not a whole number from " +
                                           std::to_string(low) + " to " + std::to_string(high)};
}

std::string format_duration(Duration d) {
  static constexpr std::array<UnitName, 4> kUnits{
      {{"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}}};
  const auto ns = static_cast<double>(d.count());
  char text[48];
  for (const auto& unit : kUnits) {
    const double value = ns / unit.factor;
    if (std::fabs(value) < 1 && unit.factor > 1) continue;
    const double size = std::fabs(value);
    const int digits = unit.factor == 1 || size >= 100 ? 0 : size >= 10 ? 1 : 2;
    std::snprintf(text, sizeof text, "%.*f %s", digits, value, unit.name.data());
    return text;
  }
  return "0 ns";
}

std::string_view nearest_word(std::string_view word, std::span<const std::string_view> candidates) {
  std::string_view best;
  std::size_t best_distance = word.size() / 3 + 2;
  for (const auto candidate : candidates) {
    const auto distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace tauto
