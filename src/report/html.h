#pragma once
// Small pieces of HTML. Pure.

#include <string>
#include <string_view>
#include <vector>

namespace tauto::report {

/// Text that is safe between tags and inside quoted attributes.
std::string escape_html(std::string_view text);

/// The same, with no line break inside a number or before its unit.
std::string escape_html_unbroken(std::string_view text);

/// JSON that is safe inside a <script> element: no "<" is left in it.
std::string escape_script_json(std::string_view json);

/// A table; the first row is the head unless `head` is false. Cells are plain text. Cells that say
/// "not enough samples" or "-" are set apart.
std::string html_table(const std::vector<std::vector<std::string>>& rows,
                       std::string_view css_class, bool head = true);

}  // namespace tauto::report
