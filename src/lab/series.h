#pragma once
// The samples of a run over time and by part. Pure.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "lab/load_generator.h"
#include "report/bench_result.h"

namespace tauto::lab {

/// The measured time, nanoseconds since the start: [begin, end).
struct Window {
  std::int64_t begin_ns;
  std::int64_t end_ns;

  bool contains(std::int64_t at_ns) const { return at_ns >= begin_ns && at_ns < end_ns; }
  /// By intended start, never by completion: slow requests would be left out.
  bool counts(const Sample& sample) const {
    return sample.outcome != Outcome::kAborted && contains(sample.intended_ns);
  }
};

/// How one latency falls into parts: lag, network (or `service` when the server is silent), and
/// what the server names. The parts of one request sum to its latency when the server gives its
/// total.
class Breakdown {
 public:
  struct Part {
    std::string name;
    bool of_server;
  };
  using Split = std::array<double, kStageColumnCount + 2>;  // ms by part; NaN: not known

  explicit Breakdown(const LoadLog& log);
  const std::vector<Part>& parts() const { return parts_; }
  bool has_total() const { return has_total_; }
  Split split(const Sample& sample) const;

 private:
  const LoadLog& log_;
  std::vector<Part> parts_;
  std::vector<std::size_t> columns_;  // of parts_[2..]
  bool has_total_ = false;
};

std::vector<report::Second> seconds_of(const LoadLog& log);

/// A few thousand dots: of each moment the slowest, the failed and some others.
std::vector<report::Dot> dots_of(const LoadLog& log, const Window& window);

/// Latency by share, dense towards 1. Requires: ascending.
std::vector<report::CurvePoint> curve_of(const std::vector<std::int64_t>& sorted_ns);

}  // namespace tauto::lab
