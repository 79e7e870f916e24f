// What one decision costs: the fast path (empty queue, idle instance), and a queue of 512 before
// busy instances. One item is one request, from Arrive to its answer.

#include <benchmark/benchmark.h>

#include <cstdint>

#include "sched/scheduler.h"

namespace tauto::sched {
namespace {

using std::chrono::microseconds;
using std::chrono::seconds;

/// A model with one instance, a time that moves on, and ids that are never used twice.
class Group {
 public:
  Group(PolicyKind policy, std::uint32_t rows_max) {
    ModelSettings settings;
    settings.policy = policy;
    settings.rows_max = settings.rows_fixed = rows_max;
    step(Configure{ModelId{0}, settings});
    step(InstanceUp{InstanceId{0}, ModelId{0}});
  }
  void arrive() {
    Arrive a;
    a.id = RequestId{++requests_ << 32};
    a.deadline = now_ + seconds{1};
    step(a);
  }
  /// The running batch ends; the next one starts in the same step.
  void done() { step(BatchDone{running_, {}, BatchOutcome::kOk}); }
  std::size_t open() const { return scheduler_.open_requests(); }

 private:
  void step(const Event& event) {
    now_ += microseconds{1};
    actions_.clear();
    scheduler_.step(now_, event, actions_);
    if (!actions_.dispatches.empty()) running_ = actions_.dispatches.back().batch;
  }

  Scheduler scheduler_;
  Actions actions_;
  Instant now_{};
  std::uint64_t requests_ = 0;
  BatchId running_;
};

/// Arrive dispatches at once, BatchDone answers: two steps a request.
void fast_path(benchmark::State& state) {
  Group group(static_cast<PolicyKind>(state.range(0)), 1);
  for (auto _ : state) {
    group.arrive();
    group.done();
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(fast_path)
    ->ArgName("policy")
    ->Arg(static_cast<int>(PolicyKind::kDirect))
    ->Arg(static_cast<int>(PolicyKind::kEager))
    ->Arg(static_cast<int>(PolicyKind::kTriton));

/// 512 wait; each turn eight come and one batch of eight goes.
void queue_of_512(benchmark::State& state) {
  constexpr std::uint32_t kRows = 8;
  Group group(static_cast<PolicyKind>(state.range(0)), kRows);
  while (group.open() < 512) group.arrive();
  for (auto _ : state) {
    for (std::uint32_t i = 0; i < kRows; ++i) group.arrive();
    group.done();
  }
  state.SetItemsProcessed(state.iterations() * kRows);
}
BENCHMARK(queue_of_512)
    ->ArgName("policy")
    ->Arg(static_cast<int>(PolicyKind::kEager))
    ->Arg(static_cast<int>(PolicyKind::kFixed))
    ->Arg(static_cast<int>(PolicyKind::kTriton));

}  // namespace
}  // namespace tauto::sched
