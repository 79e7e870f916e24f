// The price of a decision: scheduler steps per request, idle and with a queue.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <deque>

#include "sched/scheduler.h"

namespace tauto::sched {
namespace {

constexpr ModelId kModel{1};

/// A scheduler with one model and one instance, and its own clock.
class Bench {
 public:
  Bench(PolicyKind policy, std::uint32_t rows_max) {
    ModelSettings settings;
    settings.policy = policy;
    settings.rows_max = rows_max;
    step(Configure{kModel, settings});
    step(InstanceUp{InstanceId{1}, kModel});
  }
  void arrive() {
    Arrive request;
    request.id = RequestId{++requests_};
    request.model = kModel;
    request.deadline = now_ + std::chrono::seconds(1);
    step(request);
  }
  void finish_batch() {
    step(BatchDone{running_.front(), std::chrono::microseconds(10)});
    running_.pop_front();
  }

 private:
  void step(const Event& event) {
    actions_.clear();
    now_ += Duration{100};
    scheduler_.step(now_, event, actions_);
    for (const auto& dispatch : actions_.dispatches) running_.push_back(dispatch.batch);
  }

  Scheduler scheduler_;
  Actions actions_;
  Instant now_{};
  std::uint64_t requests_ = 0;
  std::deque<BatchId> running_;
};

/// One request at a time: arrives, is dispatched at once, is done.
void idle(benchmark::State& state) {
  Bench bench(PolicyKind::kEager, 8);
  for (auto _ : state) {
    bench.arrive();
    bench.finish_batch();
  }
}
BENCHMARK(idle);

/// `range` requests always wait; each batch takes 8, and 8 new ones come. Time is per 8 requests.
void queued(benchmark::State& state) {
  Bench bench(PolicyKind::kEager, 8);
  for (std::int64_t i = 0; i < state.range(0) + 1; ++i) bench.arrive();
  for (auto _ : state) {
    for (int i = 0; i < 8; ++i) bench.arrive();
    bench.finish_batch();
  }
}
BENCHMARK(queued)->Arg(8)->Arg(1000)->Arg(8000);

}  // namespace
}  // namespace tauto::sched

BENCHMARK_MAIN();
