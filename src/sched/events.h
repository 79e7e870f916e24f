#pragma once
// What can happen to a device group, as plain values. Times in events are data; `now` is given to
// Scheduler::step beside them.

#include <cstdint>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "base/time.h"
#include "core/ids.h"
#include "core/service_time.h"

namespace tauto::sched {

/// Times beyond this (73 years from the clock's zero, either way) count as this far away.
inline constexpr Duration kTimeMax{std::int64_t{1} << 61};
/// A model's configuration may not name more priority levels; its reader refuses them.
inline constexpr std::uint32_t kPriorityLevelsMax = 4096;

enum class PolicyKind : std::uint8_t {
  kDirect,  // one request a batch, first come first served
  kEager,   // an idle instance takes what is there, up to rows_max
  kFixed,   // wait for rows_fixed rows, at most hold_max
  kTriton,  // Triton's dynamic batcher
};

enum class TimeoutAction : std::uint8_t { kReject, kDelay };

/// Triton's ModelQueuePolicy for one priority level.
struct QueuePolicy {
  TimeoutAction timeout_action = TimeoutAction::kReject;
  std::optional<Duration> timeout_default;       // dispatch by; none = no limit
  bool timeout_override = false;                 // a request may ask for less, never for more
  std::optional<std::uint32_t> queue_depth_max;  // requests waiting in this level
};

/// How one loaded model version is to be scheduled.
struct ModelSettings {
  PolicyKind policy = PolicyKind::kDirect;
  std::uint32_t rows_max = 1;                 // rows per batch, >= 1; a request is never split
  std::uint32_t rows_fixed = 0;               // kFixed: rows to wait for, 1..rows_max
  std::vector<std::uint32_t> rows_preferred;  // kTriton: ascending, each 1..rows_max
  Duration hold_max{};                        // longest a request waits for company, >= 0
  bool preserve_ordering = false;             // answers leave in arrival order
  std::uint32_t priority_levels = 0;          // 0 = one level; level 1 is the highest
  std::uint32_t priority_default = 0;
  QueuePolicy queue_default;
  std::vector<std::pair<std::uint32_t, QueuePolicy>> queue_by_priority;
  std::uint32_t queue_depth_max = 10'000;  // requests waiting in all levels together, >= 1
  bool late_is_error = true;               // still running at its deadline: answer expired at once
};

/// A request enters. It leaves by exactly one Answer.
struct Arrive {
  RequestId id;
  ModelId model;
  CompatKey compat_key;  // equal keys may share a batch
  std::uint32_t rows =
      1;  // >= 1; more than rows_max: dispatched alone is impossible, so the caller refuses it
  std::uint64_t elements_per_row = 0;     // padded, for the price of a batch (rollout)
  std::uint32_t priority = 0;             // 0 or beyond the levels = the default level
  std::optional<Duration> queue_timeout;  // dispatch within; Triton's rules
  std::optional<Instant> deadline;        // answer by
  std::uint32_t value = 1;                // worth of an answer in time (rollout)
  std::uint32_t accuracy_min_ppm = 0;     // for routes (rollout)
};
/// The client went away. Unknown or already answered ids are ignored.
struct Cancel {
  RequestId id;
};
enum class BatchOutcome : std::uint8_t { kOk, kFailed };
/// An instance has returned a batch; unknown or repeated batch ids are ignored.
struct BatchDone {
  BatchId batch;
  Duration took{};  // of the engine alone
  BatchOutcome outcome = BatchOutcome::kOk;
};
/// next_wake() has passed.
struct Tick {};
struct InstanceUp {
  InstanceId instance;
  ModelId model;
};
/// The instance is gone; a batch it was running is lost: its requests are answered kLost.
struct InstanceDown {
  InstanceId instance;
};
/// The instance finishes its batch and gets no other.
struct InstanceDrain {
  InstanceId instance;
};
/// l(b) of a model, measured anew.
struct Profile {
  ModelId model;
  ServiceTime service_time;
};
/// Adds a model or changes its settings; waiting requests stay, filed anew by their priority. Those
/// with more rows than the new rows_max are answered kRetired.
struct Configure {
  ModelId model;
  ModelSettings settings;
};
/// Refuses new requests of a model; waiting ones are still served while an instance takes batches,
/// and answered kRetired when none does.
struct Retire {
  ModelId model;
};

using Event = std::variant<Arrive, Cancel, BatchDone, Tick, InstanceUp, InstanceDown, InstanceDrain,
                           Profile, Configure, Retire>;

}  // namespace tauto::sched
