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

/// Threads: one caller at a time (the device group's mutex). Memory: O(requests waiting + running);
/// after warm-up nothing is allocated but by Configure, InstanceUp, Profile and save().
///
/// Life of a model: Configure adds it (and changes it later, or takes it back from retirement);
/// InstanceUp gives it instances. To unload it gently: Retire, wait until none of its requests is
/// open, then InstanceDrain/InstanceDown. To unload it at once: Retire, then InstanceDrain each
/// instance: when the last one that would take a batch is gone, what waits is answered kRetired,
/// and what runs still finishes. A model that is not retired may be without instances: its requests
/// wait, under their deadlines, for the next InstanceUp. Its id stays known for good, so that a
/// late Arrive is answered kRetired.
///
/// Time: what is due at `now` comes first, in order of its time, so a request is never dispatched
/// at or after its deadline, and a batch done at the deadline is late. A deadline covers waiting,
/// running and, with preserve_ordering, an answer held back for an earlier request; with
/// late_is_error false it covers waiting only. preserve_ordering holds back kServed and kFailed;
/// every other answer leaves at once.
///
/// Idle instances are taken lowest id first. Levels are strict, first in first out inside, for
/// every policy.
class Scheduler {
 public:
  Scheduler();
  ~Scheduler();
  Scheduler(Scheduler&&) noexcept;
  Scheduler& operator=(Scheduler&&) noexcept;

  /// Applies one event, and everything else that is due at `now`, and appends what to do to `out`.
  /// O(1) when the queue is empty and an instance idle. Requires (checked): `now` never goes back;
  /// ids of requests and instances are not in use when they enter; a model is configured before it
  /// is named, within kPriorityLevelsMax; a request has 1..rows_max rows. Never fails: refusals are
  /// Answer actions. Events about unknown requests, batches and instances are ignored.
  void step(Instant now, const Event& event, Actions& out);

  /// When a Tick must be delivered if nothing else happens; nullopt when nothing waits for time.
  /// After a step it is later than that step's `now`.
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
