#pragma once
// Small facts of HTTP/1.1 text: names without case, reason phrases, numbers.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tauto::net {

/// ASCII letters compared without case; header names and tokens.
inline bool same_name(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto x = static_cast<unsigned char>(a[i]);
    const auto y = static_cast<unsigned char>(b[i]);
    if (x == y) continue;
    const auto lower = static_cast<unsigned char>(x | 0x20u);
    if (lower != static_cast<unsigned char>(y | 0x20u) || lower < 'a' || lower > 'z') return false;
  }
  return true;
}

/// "OK", "Not Found"; "Unknown" for codes without a standard phrase.
std::string_view reason_phrase(unsigned status);

/// Whole decimal number; nullopt when empty, not digits only, or too large.
std::optional<std::uint64_t> parse_decimal(std::string_view text);

}  // namespace tauto::net
