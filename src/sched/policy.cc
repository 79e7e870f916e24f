#include "sched/policy.h"

#include <algorithm>

#include "base/check.h"

namespace tauto::sched {
namespace {

/// One request a batch. What Triton does without a scheduler in the configuration.
class DirectPolicy final : public Policy {
 public:
  Choice choose(const PolicyView& view, std::vector<Slot>& batch) override {
    if (view.instance_idle && view.queue.size() > 0) batch.push_back(view.queue.first());
    return {};
  }
};

/// The longest run of requests from the head of the queue that may share a batch of `rows_limit`.
struct Run {
  std::uint64_t rows = 0;
  Instant oldest = Instant::max();
  std::optional<DispatchReason> cut;  // why it ends before the queue does
};

Run take_run(const PolicyView& view, std::uint32_t rows_limit, std::vector<Slot>& batch) {
  Run run;
  for (Slot slot = view.queue.first(); slot != kNoSlot;
       slot = view.queue.after(view.requests, slot)) {
    const Request& r = view.requests[slot];
    if (!batch.empty()) {
      // The first request is always taken: alone it may be larger than a fixed size.
      if (run.rows + r.rows > rows_limit)
        run.cut = DispatchReason::kFull;
      else if (r.compat_key != view.requests[batch.front()].compat_key)
        run.cut = DispatchReason::kIncompatible;
      if (run.cut) break;
    }
    batch.push_back(slot);
    run.rows += r.rows;
    run.oldest = std::min(run.oldest, r.arrival);
    if (run.rows >= rows_limit) {
      run.cut = DispatchReason::kFull;
      break;
    }
  }
  return run;
}

/// An idle instance takes what is there.
class EagerPolicy final : public Policy {
 public:
  Choice choose(const PolicyView& view, std::vector<Slot>& batch) override {
    if (!view.instance_idle) return {};
    const Run run = take_run(view, view.settings.rows_max, batch);
    return {run.cut.value_or(DispatchReason::kIdle), std::nullopt};
  }
};

/// Waits until rows_fixed rows are there, or as many as fit, or the oldest waited hold_max.
class FixedPolicy final : public Policy {
 public:
  Choice choose(const PolicyView& view, std::vector<Slot>& batch) override {
    if (!view.instance_idle || view.queue.size() == 0) return {};
    const Run run = take_run(view, view.settings.rows_fixed, batch);
    if (run.cut == DispatchReason::kFull) return {DispatchReason::kFixedSize, std::nullopt};
    if (run.cut) return {*run.cut, std::nullopt};
    const Instant wake = run.oldest + view.settings.hold_max;
    if (wake <= view.now) return {DispatchReason::kHoldElapsed, std::nullopt};
    batch.clear();
    return {DispatchReason::kIdle, wake};
  }
};

}  // namespace

std::unique_ptr<Policy> make_policy(PolicyKind kind) {
  switch (kind) {
    case PolicyKind::kDirect:
      return std::make_unique<DirectPolicy>();
    case PolicyKind::kEager:
      return std::make_unique<EagerPolicy>();
    case PolicyKind::kFixed:
      return std::make_unique<FixedPolicy>();
    case PolicyKind::kTriton:
      return make_triton_policy();
  }
  TAUTO_CHECK(false);
  return nullptr;
}

}  // namespace tauto::sched
