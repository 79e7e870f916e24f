#pragma once
// When requests are meant to start: offsets from the start of a run, made from a seed, the same on
// every machine and build. The load generator and the simulator use the same schedules.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace tauto {

enum class ArrivalKind { kConstant, kPoisson };

std::optional<ArrivalKind> arrival_kind_from_name(std::string_view name);

struct ArrivalPlan {
  ArrivalKind kind;
  std::uint64_t millirequests_per_second;  // 1000 = one a second; > 0
  Duration length;                         // offsets are in [0, length)
  std::uint64_t seed;
};

/// Ascending offsets. Constant: k / rate. Poisson: exponential gaps with mean 1 / rate, by
/// inversion of a 53-bit uniform from SplitMix64(seed). Never re-anchored to what really happened.
std::vector<Duration> make_arrivals(const ArrivalPlan& plan);

/// SplitMix64 (Steele, Lea, Flood 2014): a small, portable stream of 64-bit values.
class SplitMix64 {
 public:
  explicit SplitMix64(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// In (0, 1]: never 0, so that its logarithm is finite.
  double next_unit() { return static_cast<double>((next() >> 11) + 1) * 0x1.0p-53; }

 private:
  std::uint64_t state_;
};

}  // namespace tauto
