#include "journey/histograms.h"

#include "base/check.h"

namespace tauto::journey {

StageRecorder::StageRecorder(std::size_t shards) {
  TAUTO_CHECK(shards > 0);
  for (std::size_t i = 0; i < shards; ++i) shards_.push_back(std::make_unique<Shard>());
}

void StageRecorder::record(std::size_t shard, Outcome outcome, const Split& split) {
  Shard& s = *shards_[shard];
  AtomicHistogram::bump(s.outcomes[static_cast<std::size_t>(outcome)], 1);
  if (outcome != Outcome::kServed) return;
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < kStageCount; ++i) {
    // Several stages of a plain request have no length: snapshot() knows how many those were.
    const auto ns = static_cast<std::uint64_t>(to_ns(split[i]));
    if (ns > 0) s.stages[i].add(ns);
    total += ns;
  }
  s.total.add(total);
}

void StageRecorder::count(std::size_t shard, Outcome outcome) {
  AtomicHistogram::bump(shards_[shard]->outcomes[static_cast<std::size_t>(outcome)], 1);
}

StageSnapshot StageRecorder::snapshot() const {
  StageSnapshot result;
  for (const auto& shard : shards_) {
    for (std::size_t i = 0; i < kStageCount; ++i) shard->stages[i].read_into(result.stages[i]);
    shard->total.read_into(result.total);
    for (std::size_t i = 0; i < kOutcomeCount; ++i) {
      result.outcomes[i] += shard->outcomes[i].load(std::memory_order_relaxed);
    }
  }
  for (auto& stage : result.stages) {
    const std::uint64_t seen = stage.count();
    if (seen < result.total.count()) stage.add(0, result.total.count() - seen);
  }
  return result;
}

}  // namespace tauto::journey
