#include "wire/prometheus.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>

namespace tauto::wire {
namespace {

TEST(Prometheus, APage) {
  std::string out;
  PrometheusWriter page(out);
  const std::array<MetricLabel, 2> labels{{{"model", "a\"b\\c\nd"}, {"version", "1"}}};
  page.family("nv_inference_request_success", "Number of successful inference requests",
              MetricType::kCounter);
  page.sample(labels, 5);
  page.sample(std::span(labels).first(1), std::uint64_t{18'446'744'073'709'551'615U});
  page.family("g", "line\nback\\slash \"quote\"", MetricType::kGauge);
  page.sample({}, 0.25);
  page.sample({}, -3);
  page.sample({}, std::numeric_limits<double>::quiet_NaN());
  page.sample({}, -std::numeric_limits<double>::infinity());
  page.family("h_seconds", "h", MetricType::kHistogram);
  const std::array<double, 3> bounds{1e-6, 0.5, 60};
  const std::array<std::uint64_t, 4> counts{0, 2, 3, 4};
  page.histogram(std::span(labels).last(1), bounds, counts, 71.5);
  page.histogram({}, std::span(bounds).first(0), std::span(counts).first(1), 0);
  EXPECT_EQ(out,
            R"(# HELP nv_inference_request_success Number of successful inference requests
# TYPE nv_inference_request_success counter
nv_inference_request_success{model="a\"b\\c\nd",version="1"} 5
nv_inference_request_success{model="a\"b\\c\nd"} 18446744073709551615
# HELP g line\nback\\slash "quote"
# TYPE g gauge
g 0.25
g -3
g NaN
g -Inf
# HELP h_seconds h
# TYPE h_seconds histogram
h_seconds_bucket{version="1",le="1e-06"} 0
h_seconds_bucket{version="1",le="0.5"} 2
h_seconds_bucket{version="1",le="60"} 3
h_seconds_bucket{version="1",le="+Inf"} 4
h_seconds_sum{version="1"} 71.5
h_seconds_count{version="1"} 4
h_seconds_bucket{le="+Inf"} 0
h_seconds_sum 0
h_seconds_count 0
)");
}

TEST(PrometheusDeathTest, MisuseIsABug) {
  std::string out;
  PrometheusWriter page(out);
  EXPECT_DEATH(page.sample({}, 1), "check failed");
  page.family("a", "a", MetricType::kCounter);
  EXPECT_DEATH(page.family("a", "a", MetricType::kCounter), "check failed");
  EXPECT_DEATH(page.histogram({}, {}, {}, 0), "check failed");
}

}  // namespace
}  // namespace tauto::wire
