#include "journey/atomic_histogram.h"

namespace tauto::journey {

void AtomicHistogram::read_into(LogHistogram& out) const {
  std::array<std::uint64_t, LogBuckets::kCount> counts;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    counts[i] = counts_[i].load(std::memory_order_relaxed);
  }
  out.merge_counts(counts, sum_.load(std::memory_order_relaxed),
                   min_.load(std::memory_order_relaxed), max_.load(std::memory_order_relaxed));
}

}  // namespace tauto::journey
