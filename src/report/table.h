#pragma once
// Aligned columns for a terminal. Pure; knows that a UTF-8 letter is one column wide.

#include <string>
#include <string_view>
#include <vector>

namespace tauto::report {

/// Columns that `text` takes on a terminal: one per code point, none for combining marks.
std::size_t display_width(std::string_view text);

/// 1234567 -> "1 234 567".
std::string format_count(std::uint64_t n);
/// Three significant digits: "80.2", "4 983", "0.31".
std::string format_number(double x);
/// 0.993 -> "99.3 %"; shares that are not whole never print as 0 % or 100 %.
std::string format_share(double share);

/// Rows of cells; the first column is aligned left, the others left too, as in the design's tables.
class Table {
 public:
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  bool empty() const { return rows_.empty(); }
  /// Each line ends with a newline and has no trailing spaces.
  std::string to_string() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace tauto::report
