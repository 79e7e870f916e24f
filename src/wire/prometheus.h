#pragma once
// Writes Prometheus' text exposition format, version 0.0.4, into a string.

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace tauto::wire {

enum class MetricType { kCounter, kGauge, kHistogram };

struct MetricLabel {
  std::string_view name;
  std::string_view value;  // escaped by the writer
};
using MetricLabels = std::span<const MetricLabel>;

/// One page. All samples of a family must follow each other: call family() once, then its samples.
class PrometheusWriter {
 public:
  static constexpr std::string_view kContentType = "text/plain; charset=utf-8";

  explicit PrometheusWriter(std::string& out) : out_(out) {}

  /// HELP and TYPE. Requires: a name that was not used on this page.
  void family(std::string_view name, std::string_view help, MetricType type);
  /// One sample of the current family, which must be a counter or a gauge.
  template <std::integral I>
  void sample(MetricLabels labels, I value) {
    if constexpr (std::is_signed_v<I>) {
      sample_signed(labels, value);
    } else {
      sample_unsigned(labels, value);
    }
  }
  void sample(MetricLabels labels, double value);
  /// One histogram of the current family. `cumulative[i]` counts values <= bounds[i]; its last
  /// entry, one more than there are bounds, is +Inf and the count.
  void histogram(MetricLabels labels, std::span<const double> bounds,
                 std::span<const std::uint64_t> cumulative, double sum);

 private:
  void sample_signed(MetricLabels labels, std::int64_t value);
  void sample_unsigned(MetricLabels labels, std::uint64_t value);
  void begin_line(std::string_view suffix, MetricLabels labels, std::string_view le);
  void end_line(double value);
  void end_line(std::uint64_t value);

  std::string& out_;
  std::string name_;
  MetricType type_ = MetricType::kGauge;
  std::vector<std::string> used_;
};

}  // namespace tauto::wire
