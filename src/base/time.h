#pragma once
// Time inside the house: nanoseconds on one monotonic clock. Nothing here can read a clock; whoever
// needs one is handed a TimeSource by `app/` or `sim/`.

#include <chrono>
#include <cstdint>

namespace tauto {

/// Tag clock without now(): an Instant cannot be mixed with std::chrono::steady_clock by accident.
struct Clock {
  using rep = std::int64_t;
  using period = std::nano;
  using duration = std::chrono::nanoseconds;
  using time_point = std::chrono::time_point<Clock>;
  static constexpr bool is_steady = true;
};
using Duration = Clock::duration;
using Instant = Clock::time_point;

constexpr std::int64_t to_ns(Duration d) { return d.count(); }
constexpr std::int64_t to_ns(Instant t) { return t.time_since_epoch().count(); }
constexpr Instant instant_at_ns(std::int64_t ns) { return Instant{Duration{ns}}; }
/// For reports only: never store the result.
constexpr double to_ms(Duration d) { return static_cast<double>(d.count()) / 1e6; }
constexpr double to_us(Duration d) { return static_cast<double>(d.count()) / 1e3; }
constexpr double to_s(Duration d) { return static_cast<double>(d.count()) / 1e9; }

/// Where `now` comes from. Threads: now() may be called by any thread. Never goes back.
class TimeSource {
 public:
  virtual ~TimeSource() = default;
  virtual Instant now() const = 0;
};

}  // namespace tauto
