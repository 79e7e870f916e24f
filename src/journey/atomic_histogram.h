#pragma once
// LogHistogram for one writer and any readers: no lock, no read-modify-write. A snapshot taken
// while the writer is at work may miss the value being added in one of its parts (counts, sum, min,
// max).

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/log_histogram.h"

namespace tauto::journey {

/// Threads: add() one at a time, read_into() any. Memory: 19 KiB.
class AtomicHistogram {
 public:
  void add(std::uint64_t value) {
    bump(counts_[LogBuckets::index_of(value)], 1);
    bump(sum_, value);
    if (value < min_.load(std::memory_order_relaxed)) min_.store(value, std::memory_order_relaxed);
    if (value > max_.load(std::memory_order_relaxed)) max_.store(value, std::memory_order_relaxed);
  }
  void read_into(LogHistogram& out) const;

  static void bump(std::atomic<std::uint64_t>& cell, std::uint64_t by) {
    cell.store(cell.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
  }

 private:
  std::atomic<std::uint64_t> sum_{0};
  std::atomic<std::uint64_t> min_{~std::uint64_t{0}};
  std::atomic<std::uint64_t> max_{0};
  std::array<std::atomic<std::uint64_t>, LogBuckets::kCount> counts_{};
};

}  // namespace tauto::journey
