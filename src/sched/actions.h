#pragma once
// What the scheduler wants done. The caller carries actions out after releasing the group's mutex.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "core/ids.h"

namespace tauto::sched {

/// Why a batch went when it did; goes into journeys, metrics and logs.
enum class DispatchReason : std::uint8_t {
  kIdle,          // an instance was idle and the policy does not wait
  kFull,          // rows_max (or the largest preferred size) reached
  kPreferred,     // a preferred size reached
  kFixedSize,     // rows_fixed reached
  kHoldElapsed,   // waited as long as allowed
  kIncompatible,  // the next request cannot share this batch
};
std::string_view dispatch_reason_name(DispatchReason reason);

struct Member {
  RequestId id;
  Duration hold{};  // of its queue time, spent beside an idle instance
};

/// Run these requests, in this order, on this idle instance.
struct Dispatch {
  BatchId batch;
  InstanceId instance;
  ModelId model;
  DispatchReason reason;
  std::uint32_t rows;        // of all members
  std::size_t member_first;  // into Actions::members
  std::size_t member_count;
  std::optional<Instant> latest_start;  // rollout: a start after this would miss
};

enum class AnswerKind : std::uint8_t {
  kServed,        // its batch is done: send the outputs
  kFailed,        // its batch failed: send the engine's error
  kExpired,       // its deadline passed, waiting or running
  kQueueTimeout,  // it was not dispatched within its queue timeout
  kShed,          // a bounded queue was full on arrival
  kCancelled,     // the client went away
  kLost,          // its instance went down
  kRetired,       // its model takes no more requests, or has no instance left
};
std::string_view answer_kind_name(AnswerKind kind);

/// The one answer of a request. A running request that was answered early (kExpired, kCancelled) is
/// not mentioned again when its batch is done.
struct Answer {
  RequestId id;
  AnswerKind kind;
  Duration waited{};  // in the queue, until dispatch or until now
  Duration hold{};    // share of `waited` beside an idle instance
  // kExpired: the deadline, from arrival (0: past on arrival). kQueueTimeout: the one in force.
  std::optional<Duration> limit;
  std::optional<std::uint32_t> depth_limit;  // kShed: the bound that was full, in requests
  std::optional<Duration> retry_after;       // kShed: when the queue ahead will have drained
};

/// Filled by Scheduler::step; reused between steps, so that after warm-up nothing is allocated.
struct Actions {
  std::vector<Dispatch> dispatches;
  std::vector<Member> members;
  std::vector<Answer> answers;

  void clear() {
    dispatches.clear();
    members.clear();
    answers.clear();
  }
  std::span<const Member> members_of(const Dispatch& d) const {
    return std::span(members).subspan(d.member_first, d.member_count);
  }
};

}  // namespace tauto::sched
