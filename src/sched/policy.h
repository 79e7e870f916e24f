#pragma once
// One model's rule for forming batches. The shell around it owns requests, instances, deadlines and
// answers; a policy only says which waiting requests go together next, and when to ask again.

#include <memory>
#include <optional>
#include <vector>

#include "base/time.h"
#include "sched/bytes.h"
#include "sched/events.h"
#include "sched/request_table.h"
#include "sched/waiting_queue.h"

namespace tauto::sched {

/// What a policy may look at. Everything due at `now` has already left the queue.
struct PolicyView {
  const ModelSettings& settings;
  const WaitingQueue& queue;
  const RequestTable& requests;
  Instant now;
  bool instance_idle;
};

struct Choice {
  DispatchReason reason = DispatchReason::kIdle;  // of the batch chosen
  std::optional<Instant> wake;                    // no batch: ask again then; > now
};

/// Threads: one at a time. To add a policy (rollout is next): a PolicyKind, a class here, a case in
/// make_policy. A policy that weighs several models against each other still answers for one model
/// at a time; what it needs to see of the others is added to PolicyView.
class Policy {
 public:
  virtual ~Policy() = default;

  /// Appends the next batch to `batch`, in running order, or nothing. Only when an instance is idle
  /// may a batch be appended; it is dispatched at once, and choose() is called again until it
  /// appends nothing. Requires: `batch` is empty. A batch shares one compat_key and holds at most
  /// rows_max rows.
  virtual Choice choose(const PolicyView& view, std::vector<Slot>& batch) = 0;

  /// A waiting request is about to leave the queue without being dispatched.
  virtual void on_leave(const RequestTable&, Slot) {}

  /// What it remembers between calls, for Scheduler::save.
  virtual void save(ByteWriter&) const {}
  /// The counterpart; fails the reader on what save() would not have written.
  virtual void restore(ByteReader&, const PolicyView&) {}
};

std::unique_ptr<Policy> make_policy(PolicyKind kind);
/// Apart, because its payload rules fill a file of their own.
std::unique_ptr<Policy> make_triton_policy();

}  // namespace tauto::sched
