#pragma once
// Decides which waiting requests run together, where and when, for the models of one device group.
// Sans-IO: reads no clock, starts no thread, takes no lock, calls no engine; integers only, so that
// a log of events replays to the same decisions in every build.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "core/ids.h"
#include "sched/actions.h"
#include "sched/events.h"

namespace tauto::sched {

/// Threads: one caller at a time (the device group's mutex). Memory: O(requests waiting + running).
class Scheduler {
 public:
  Scheduler();
  ~Scheduler();
  Scheduler(Scheduler&&) noexcept;
  Scheduler& operator=(Scheduler&&) noexcept;

  /// Applies one event, and everything else that is due at `now`, and appends what to do to `out`.
  /// O(1) when the queue is empty and an instance idle. Requires: `now` never goes back (checked);
  /// ids of requests, models and instances are new when they enter (checked). Never fails: refusals
  /// are Answer actions.
  void step(Instant now, const Event& event, Actions& out);

  /// When a Tick must be delivered if nothing else happens; nullopt when nothing waits for time.
  std::optional<Instant> next_wake() const;

  /// Requests of `model` that wait (not those that run). 0 for an unknown model.
  std::size_t queue_depth(ModelId model) const;
  /// Requests that wait or run, all models.
  std::size_t open_requests() const;

  /// The whole state as bytes, the same in every build; restore() continues with equal decisions.
  std::string save() const;
  /// Errors: kInvalidArgument for bytes that save() did not write, or of another version.
  static Result<Scheduler> restore(std::string_view bytes);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tauto::sched
