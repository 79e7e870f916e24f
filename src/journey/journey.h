#pragma once
// The stamps of one request on one monotonic clock. Invariant: the stages sum to the total exactly,
// and none is negative; a gap between two stamps belongs to the stage that follows.

#include <array>
#include <cstdint>

#include "base/time.h"
#include "journey/stage.h"

namespace tauto::journey {

using Split = std::array<Duration, kStageCount>;

/// Threads: one at a time (it travels with its request). Never allocates.
class Journey {
 public:
  /// The first byte was seen.
  explicit Journey(Instant first_byte) : started_(first_byte), last_(first_byte) {}

  /// `stage` ended at `at`. Stages must be marked in order; a skipped one has no length. A stamp
  /// older than the latest one (two threads read the clock close together) counts as the latest.
  /// kHold is not marked: see set_hold.
  void mark(Stage stage, Instant at);
  /// Of the queue time, this much was spent beside an idle instance. Clamped into the queue time.
  void set_hold(Duration hold) { hold_ = hold; }

  Instant started() const { return started_; }
  Instant last() const { return last_; }
  Duration total() const { return last_ - started_; }
  /// Each stage's length; sums to total().
  Split split() const;

 private:
  Instant started_;
  Instant last_;
  Duration hold_{};
  Split spent_{};  // kHold's place stays zero until split(); queue time stands under kWait
};

inline void Journey::mark(Stage stage, Instant at) {
  if (at < last_) at = last_;
  spent_[static_cast<std::size_t>(stage)] += at - last_;
  last_ = at;
}

inline Split Journey::split() const {
  Split result = spent_;
  auto& wait = result[static_cast<std::size_t>(Stage::kWait)];
  const Duration hold = hold_ < Duration::zero() ? Duration::zero() : hold_ < wait ? hold_ : wait;
  result[static_cast<std::size_t>(Stage::kHold)] = hold;
  wait -= hold;
  return result;
}

}  // namespace tauto::journey
