#pragma once
// The slowest requests of each minute, with what is needed to see why. A fast request pays one
// comparison; only one that will be kept takes the mutex.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/time.h"
#include "journey/journey.h"
#include "journey/outcome.h"

namespace tauto::journey {

struct Exemplar {
  static constexpr std::size_t kClientIdMax = 64;

  std::uint64_t request = 0;  // our number
  std::string client_id;      // the request's own id; cut to kClientIdMax by Slowest
  std::string model;
  std::string version;
  std::vector<std::pair<std::string, std::string>> labels;
  Instant started{};  // first byte seen
  Duration total{};
  Split stages{};
  Outcome outcome = Outcome::kServed;
  std::uint32_t batch_rows = 0;      // 0: it never ran
  std::uint32_t batch_requests = 0;  // peers and itself
  std::uint64_t batch = 0;           // our number
  std::uint32_t queue_depth = 0;     // requests waiting when it arrived
  std::uint32_t instance = 0;
  std::string_view dispatch_reason;  // static text; "" when it never ran
};

/// Threads: any. Minutes are counted on the tag clock, from its zero.
class Slowest {
 public:
  struct Options {
    std::size_t per_minute = 10;  // >= 1
    std::size_t minutes = 15;     // >= 1
  };
  struct Minute {
    Instant start;
    std::vector<Exemplar> requests;  // slowest first
  };

  explicit Slowest(Options options);
  Slowest() : Slowest(Options{}) {}

  /// Whether offer() would keep a request that took `total` and ended at `end`. Ask first, so that
  /// only the few build an Exemplar.
  bool wants(Duration total, Instant end) const {
    const std::int64_t into = to_ns(end) - minute_start_.load(std::memory_order_acquire);
    if (into < 0 || into >= kMinuteNs) return true;  // a new minute, or a late one: offer() decides
    return to_ns(total) > threshold_.load(std::memory_order_relaxed);
  }
  /// Keeps it if it is among the slowest of the minute in which it ended.
  void offer(Exemplar exemplar) TAUTO_EXCLUDES(mutex_);
  /// Minutes that lie within the window before `now` and have requests, latest first.
  std::vector<Minute> snapshot(Instant now) const TAUTO_EXCLUDES(mutex_);

 private:
  static constexpr std::int64_t kMinuteNs = 60'000'000'000;
  struct Slot {
    std::int64_t minute = -1;
    std::vector<Exemplar> requests;  // slowest first, at most per_minute
  };

  const Options options_;
  std::atomic<std::int64_t> minute_start_{-2 * kMinuteNs};
  std::atomic<std::int64_t> threshold_{-1};  // of the current minute; -1 while it has room
  mutable Mutex mutex_;
  std::vector<Slot> ring_ TAUTO_GUARDED_BY(mutex_);
  std::int64_t newest_ TAUTO_GUARDED_BY(mutex_) = -1;
};

}  // namespace tauto::journey
