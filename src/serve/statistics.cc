#include "serve/statistics.h"

#include <algorithm>

namespace tauto::serve {
namespace {

std::uint64_t ns(Duration d) { return d.count() < 0 ? 0 : static_cast<std::uint64_t>(d.count()); }

}  // namespace

void Statistics::add_success(std::size_t shard, std::uint32_t rows, const RequestTimes& times) {
  Shard& s = shards_[shard];
  s.success_count.add(1);
  s.success_ns.add(ns(times.total));
  s.queue_ns.add(ns(times.queue));
  s.input_ns.add(ns(times.compute_input));
  s.infer_ns.add(ns(times.compute_infer));
  s.output_ns.add(ns(times.compute_output));
  s.rows.add(rows);
}

void Statistics::add_failure(std::size_t shard, FailureReason reason, Duration total) {
  Shard& s = shards_[shard];
  s.fail_count.add(1);
  s.fail_ns.add(ns(total));
  s.failures[static_cast<std::size_t>(reason)].add(1);
}

void Statistics::add_batch(const BatchStatistics& one, Instant end) {
  MutexLock lock(mutex_);
  last_inference_ = end;
  auto at =
      std::lower_bound(batches_.begin(), batches_.end(), one.rows,
                       [](const BatchStatistics& b, std::uint64_t rows) { return b.rows < rows; });
  if (at == batches_.end() || at->rows != one.rows) {
    at = batches_.insert(at, BatchStatistics{one.rows, 0, 0, 0, 0});
  }
  at->count += one.count;
  at->input_ns += one.input_ns;
  at->infer_ns += one.infer_ns;
  at->output_ns += one.output_ns;
}

StatisticsSnapshot Statistics::snapshot() const {
  StatisticsSnapshot out;
  for (const auto& s : shards_) {
    out.success_count += s.success_count.get();
    out.success_ns += s.success_ns.get();
    out.fail_count += s.fail_count.get();
    out.fail_ns += s.fail_ns.get();
    out.queue_ns += s.queue_ns.get();
    out.input_ns += s.input_ns.get();
    out.infer_ns += s.infer_ns.get();
    out.output_ns += s.output_ns.get();
    out.inference_count += s.rows.get();
    for (std::size_t i = 0; i < out.failures.size(); ++i) out.failures[i] += s.failures[i].get();
  }
  MutexLock lock(mutex_);
  out.batches = batches_;
  out.last_inference = last_inference_;
  for (const auto& b : batches_) out.execution_count += b.count;
  return out;
}

}  // namespace tauto::serve
