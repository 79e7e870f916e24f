#pragma once
// The user's business marks (`tauto.label.<name>`) of one model version: names by allow-list,
// values by bound, so that no client can grow our memory or the metrics page.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/log_histogram.h"
#include "base/mutex.h"
#include "base/time.h"
#include "journey/atomic_histogram.h"
#include "journey/outcome.h"

namespace tauto::journey {

/// One value of one label, in the table that gave it out.
struct LabelIndex {
  std::uint32_t value;
};

struct LabelSnapshot {
  std::string name;
  std::string value;  // "other" gathers everything beyond the bound
  OutcomeCounts outcomes{};
  LogHistogram total;  // ns, served requests
};

/// Memory: 19 KiB per value seen and shard, at most names * (values_max + 1) of them.
class LabelTable {
 public:
  static constexpr std::string_view kOther = "other";

  struct Options {
    std::vector<std::string> names;     // allowed ones
    std::size_t values_max = 20;        // per name, without "other"
    std::size_t value_length_max = 64;  // bytes; a longer value counts as "other"
    std::size_t shards = 1;
  };
  explicit LabelTable(Options options);

  /// nullopt: the name is not allowed. Threads: any. Allocates only for a new value.
  std::optional<LabelIndex> find(std::string_view name, std::string_view value)
      TAUTO_EXCLUDES(mutex_);
  /// Threads: one at a time per shard. No lock.
  void record(std::size_t shard, LabelIndex index, Outcome outcome, Duration total);
  /// In order of names, then of appearance; "other" last where it was used.
  std::vector<LabelSnapshot> snapshot() const TAUTO_EXCLUDES(mutex_);
  /// The allowed names, for messages.
  const std::vector<std::string>& names() const { return options_.names; }

 private:
  struct alignas(64) Shard {
    std::array<std::atomic<std::uint64_t>, kOutcomeCount> outcomes{};
    AtomicHistogram total;
  };
  struct Slot {
    std::string value;
    std::vector<std::unique_ptr<Shard>> shards;
  };
  std::size_t find_slot(std::size_t name, std::string_view value) TAUTO_REQUIRES(mutex_);

  const Options options_;
  mutable Mutex mutex_;
  // Written once under the mutex, before its index is given out; then read without it by record().
  std::vector<std::unique_ptr<Slot>> slots_;  // [name][values_max + 1], "other" last
};

}  // namespace tauto::journey
