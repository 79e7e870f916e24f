#include "report/html.h"

namespace tauto::report {

std::string escape_html(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string escape_html_unbroken(std::string_view text) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  std::string out;
  std::size_t from = 0;
  for (std::size_t i = 1; i + 1 < text.size(); ++i) {
    if (text[i] != ' ' || !is_digit(text[i - 1]) || text[i + 1] == '\xc2') continue;
    out += escape_html(text.substr(from, i - from)) + "&nbsp;";
    from = i + 1;
  }
  return out + escape_html(text.substr(from));
}

std::string escape_script_json(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out;
}

std::string html_table(const std::vector<std::vector<std::string>>& rows,
                       std::string_view css_class, bool head) {
  std::string out = "<div class=\"scroll\"><table class=\"" + std::string(css_class) + "\">\n";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string tag = head && i == 0 ? "th" : "td";
    out += "<tr>";
    for (const auto& cell : rows[i]) {
      const bool none = cell == "-" || cell.starts_with("not enough samples");
      out +=
          "<" + tag + (none ? " class=\"none\"" : "") + ">" + escape_html(cell) + "</" + tag + ">";
    }
    out += "</tr>\n";
  }
  return out + "</table></div>\n";
}

}  // namespace tauto::report
