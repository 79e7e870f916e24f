#pragma once
// Counts values in buckets whose width grows with the value: 64 buckets an octave, so the middle of
// a bucket is within 1/128 (0.8 %) of every value in it. Histograms merge by adding their counts.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/check.h"

namespace tauto {

/// The bucket rule, shared by every histogram (plain, atomic, exported).
struct LogBuckets {
  static constexpr int kSubBits = 6;
  static constexpr int kValueBits = 42;  // 2^42 ns = 73 min; larger values count as the largest
  static constexpr std::uint64_t kValueMax = (std::uint64_t{1} << kValueBits) - 1;
  static constexpr std::size_t kCount = (kValueBits - kSubBits + 1) << kSubBits;

  static constexpr std::size_t index_of(std::uint64_t value) {
    const std::uint64_t v = std::min(value, kValueMax);
    const int shift = std::max(0, static_cast<int>(std::bit_width(v)) - (kSubBits + 1));
    return (static_cast<std::size_t>(shift) << kSubBits) + static_cast<std::size_t>(v >> shift);
  }
  /// Smallest value of bucket `index`; index may be kCount (one past the last).
  static constexpr std::uint64_t lower(std::size_t index) {
    constexpr std::size_t sub = std::size_t{1} << kSubBits;
    if (index < 2 * sub) return index;
    const std::size_t shift = (index >> kSubBits) - 1;
    return static_cast<std::uint64_t>((index & (sub - 1)) + sub) << shift;
  }
  static constexpr std::uint64_t middle(std::size_t index) {
    return lower(index) + (lower(index + 1) - lower(index) - 1) / 2;
  }
};

/// Threads: one at a time. Memory: 19 KiB.
class LogHistogram {
 public:
  LogHistogram() : counts_(LogBuckets::kCount, 0) {}

  void add(std::uint64_t value, std::uint64_t times = 1) {
    counts_[LogBuckets::index_of(value)] += times;
    count_ += times;
    sum_ += value * times;
    min_ = std::min(min_, value);
    max_ = std::max(max_, value);
  }
  void merge(const LogHistogram& other) {
    for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
    count_ += other.count_;
    sum_ += other.sum_;
    min_ = std::min(min_, other.min_);
    max_ = std::max(max_, other.max_);
  }
  /// Merges a histogram that was kept elsewhere by the same buckets; `counts` has kCount entries.
  /// When all of them are zero, nothing changes.
  void merge_counts(std::span<const std::uint64_t> counts, std::uint64_t sum, std::uint64_t min,
                    std::uint64_t max) {
    TAUTO_CHECK(counts.size() == counts_.size());
    std::uint64_t added = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      counts_[i] += counts[i];
      added += counts[i];
    }
    if (added == 0) return;
    count_ += added;
    sum_ += sum;
    min_ = std::min(min_, min);
    max_ = std::max(max_, max);
  }
  std::uint64_t count() const { return count_; }
  std::uint64_t sum() const { return sum_; }
  std::uint64_t min() const { return count_ == 0 ? 0 : min_; }
  std::uint64_t max() const { return max_; }
  const std::vector<std::uint64_t>& counts() const { return counts_; }

  /// Nearest rank: the value at rank ceil(per_million/10^6 * count), within 1 %, clamped to the
  /// exact min and max. 0 when empty. Requires: per_million in (0, 1'000'000].
  std::uint64_t at_per_million(std::uint64_t per_million) const {
    TAUTO_CHECK(per_million > 0 && per_million <= 1'000'000);
    if (count_ == 0) return 0;
    // ceil(count * per_million / 10^6) without overflow: whole millions and the rest apart.
    const std::uint64_t rest = (count_ % 1'000'000) * per_million;
    const std::uint64_t rank = count_ / 1'000'000 * per_million + (rest + 999'999) / 1'000'000;
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      seen += counts_[i];
      if (seen >= rank) return std::clamp(LogBuckets::middle(i), min_, max_);
    }
    return max_;
  }

 private:
  std::vector<std::uint64_t> counts_;
  std::uint64_t count_ = 0;
  std::uint64_t sum_ = 0;
  std::uint64_t min_ = ~std::uint64_t{0};
  std::uint64_t max_ = 0;
};

}  // namespace tauto
