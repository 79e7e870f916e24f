#include "report/table.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>

namespace tauto::report {
namespace {

constexpr std::size_t kGap = 2;

}  // namespace

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xc0u) == 0x80u) continue;  // inside a code point
    // U+0300..U+036F stand on the letter before them: 0xCC 0x80 to 0xCD 0xAF.
    const bool combining = byte == 0xccu || (byte == 0xcdu && i + 1 < text.size() &&
                                             static_cast<unsigned char>(text[i + 1]) < 0xb0u);
    if (!combining) ++width;
  }
  return width;
}

std::string format_count(std::uint64_t n) {
  std::string text = std::to_string(n);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, 1, ' ');
  return text;
}

std::string format_number(double x) {
  if (!std::isfinite(x)) return "-";
  const double size = std::fabs(x);
  if (size >= 99.95)
    return (x < 0 ? "-" : "") + format_count(static_cast<std::uint64_t>(size + .5));
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", size >= 9.995 ? 1 : 2, x);
  return text;
}

std::string format_share(double share) {
  const double percent = share * 100;
  char text[32];
  // As many digits as are needed to tell the share from all and from nothing.
  int digits = 1;
  if (percent > 0 && percent < 100) {
    while (digits < 4 &&
           (std::round(percent * std::pow(10, digits)) >= 100 * std::pow(10, digits) ||
            std::round(percent * std::pow(10, digits)) <= 0)) {
      ++digits;
    }
  } else {
    digits = 0;
  }
  std::snprintf(text, sizeof text, "%.*f %%", digits, percent);
  return text;
}

std::string Table::to_string() const {
  std::vector<std::size_t> widths;
  for (const auto& row : rows_) {
    if (widths.size() < row.size()) widths.resize(row.size(), 0);
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], display_width(row[i]));
    }
  }
  std::string out;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      line.append(widths[i] - display_width(row[i]) + kGap, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
  }
  return out;
}

}  // namespace tauto::report
