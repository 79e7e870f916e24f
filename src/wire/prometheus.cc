#include "wire/prometheus.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/check.h"

namespace tauto::wire {
namespace {

constexpr std::string_view type_name(MetricType type) {
  switch (type) {
    case MetricType::kCounter:
      return "counter";
    case MetricType::kGauge:
      return "gauge";
    case MetricType::kHistogram:
      return "histogram";
  }
  return "";
}

void append_escaped(std::string_view text, bool quotes, std::string& out) {
  for (const char c : text) {
    if (c == '\\') {
      out += "\\\\";
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '"' && quotes) {
      out += "\\\"";
    } else {
      out += c;
    }
  }
}

template <class T>
void append_chars(T number, std::string& out) {
  char text[40];
  out.append(text, std::to_chars(text, text + sizeof text, number).ptr);
}

void append_double(double number, std::string& out) {
  if (std::isnan(number)) {
    out += "NaN";
  } else if (std::isinf(number)) {
    out += number > 0 ? "+Inf" : "-Inf";
  } else {
    append_chars(number, out);
  }
}

}  // namespace

void PrometheusWriter::family(std::string_view name, std::string_view help, MetricType type) {
  TAUTO_CHECK(std::find(used_.begin(), used_.end(), name) == used_.end());
  used_.emplace_back(name);
  name_ = name;
  type_ = type;
  out_ += "# HELP ";
  out_ += name;
  out_ += ' ';
  append_escaped(help, false, out_);
  out_ += "\n# TYPE ";
  out_ += name;
  out_ += ' ';
  out_ += type_name(type);
  out_ += '\n';
}

void PrometheusWriter::begin_line(std::string_view suffix, MetricLabels labels,
                                  std::string_view le) {
  TAUTO_CHECK(!name_.empty());
  out_ += name_;
  out_ += suffix;
  char separator = '{';
  const auto append = [&](std::string_view name, std::string_view value) {
    out_ += separator;
    separator = ',';
    out_ += name;
    out_ += "=\"";
    append_escaped(value, true, out_);
    out_ += '"';
  };
  for (const MetricLabel& label : labels) append(label.name, label.value);
  if (!le.empty()) append("le", le);
  if (separator == ',') out_ += '}';
  out_ += ' ';
}

void PrometheusWriter::end_line(double value) {
  append_double(value, out_);
  out_ += '\n';
}

void PrometheusWriter::end_line(std::uint64_t value) {
  append_chars(value, out_);
  out_ += '\n';
}

void PrometheusWriter::sample(MetricLabels labels, double value) {
  TAUTO_CHECK(type_ != MetricType::kHistogram);
  begin_line("", labels, "");
  end_line(value);
}

void PrometheusWriter::sample_unsigned(MetricLabels labels, std::uint64_t value) {
  TAUTO_CHECK(type_ != MetricType::kHistogram);
  begin_line("", labels, "");
  end_line(value);
}

void PrometheusWriter::sample_signed(MetricLabels labels, std::int64_t value) {
  TAUTO_CHECK(type_ != MetricType::kHistogram);
  begin_line("", labels, "");
  append_chars(value, out_);
  out_ += '\n';
}

void PrometheusWriter::histogram(MetricLabels labels, std::span<const double> bounds,
                                 std::span<const std::uint64_t> cumulative, double sum) {
  TAUTO_CHECK(type_ == MetricType::kHistogram && cumulative.size() == bounds.size() + 1);
  std::string le;
  for (std::size_t i = 0; i < cumulative.size(); ++i) {
    le.clear();
    if (i < bounds.size()) {
      append_double(bounds[i], le);
    } else {
      le = "+Inf";
    }
    begin_line("_bucket", labels, le);
    end_line(cumulative[i]);
  }
  begin_line("_sum", labels, "");
  end_line(sum);
  begin_line("_count", labels, "");
  end_line(cumulative.back());
}

}  // namespace tauto::wire
