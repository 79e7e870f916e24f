#pragma once
// Words and numbers with units as people type them, and the nearest known word to a wrong one.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace tauto {

/// "5ms", "1.5s", "200us", "10m", "1h", "250ns" -> Duration. A bare "0" is allowed, any other bare
/// number is refused. Errors: kInvalidArgument, naming the text and the units.
Result<Duration> parse_duration(std::string_view text);

/// "64MiB", "1GiB", "512KiB", "100MB", "1024B" or a bare count of bytes.
Result<std::uint64_t> parse_bytes(std::string_view text);

/// Whole decimal number in [low, high]. Errors: kInvalidArgument, naming the range.
Result<std::uint64_t> parse_count(std::string_view text, std::uint64_t low, std::uint64_t high);

/// 1234567 ns -> "1.23 ms": three significant digits, unit by size. For people.
std::string format_duration(Duration d);

/// The candidate with the smallest edit distance to `word`, or "" when none is near (more than a
/// third of the letters differ).
std::string_view nearest_word(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace tauto
