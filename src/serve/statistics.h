#pragma once
// Triton's statistics of one model version: counts and nanoseconds since the start. Successful and
// failed requests are counted by the loop that answered them, without locks; batches under a mutex.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/mutex.h"
#include "base/time.h"

namespace tauto::serve {

/// Triton's reasons of nv_inference_request_failure, in its order.
enum class FailureReason : std::uint8_t { kRejected, kCanceled, kBackend, kOther };
inline constexpr std::array<const char*, 4> kFailureReasonNames{"REJECTED", "CANCELED", "BACKEND",
                                                                "OTHER"};

/// Where a request's time went, in Triton's words: `total` leaves out the front end.
struct RequestTimes {
  Duration total{};
  Duration queue{};
  Duration compute_input{};
  Duration compute_infer{};
  Duration compute_output{};
};

struct BatchStatistics {
  std::uint64_t rows = 0;
  std::uint64_t count = 0;
  std::uint64_t input_ns = 0;
  std::uint64_t infer_ns = 0;
  std::uint64_t output_ns = 0;
};

/// A copy at one moment.
struct StatisticsSnapshot {
  std::uint64_t success_count = 0;
  std::uint64_t success_ns = 0;
  std::uint64_t fail_count = 0;
  std::uint64_t fail_ns = 0;
  std::uint64_t queue_ns = 0;
  std::uint64_t input_ns = 0;
  std::uint64_t infer_ns = 0;
  std::uint64_t output_ns = 0;
  std::uint64_t inference_count = 0;        // rows
  std::uint64_t execution_count = 0;        // batches
  std::optional<Instant> last_inference;    // end of the latest batch
  std::array<std::uint64_t, 4> failures{};  // by FailureReason
  std::vector<BatchStatistics> batches;     // ascending by rows
};

class Statistics {
 public:
  /// Requires: shards >= 1, one for each loop.
  explicit Statistics(std::size_t shards) : shards_(shards) {}

  /// Loop thread of `shard`.
  void add_success(std::size_t shard, std::uint32_t rows, const RequestTimes& times);
  void add_failure(std::size_t shard, FailureReason reason, Duration total);
  /// Any thread, once a batch that ended at `end`.
  void add_batch(const BatchStatistics& one, Instant end);

  StatisticsSnapshot snapshot() const;

 private:
  // One writer each, so a relaxed load and store is an increment.
  struct Counter {
    std::atomic<std::uint64_t> n{0};
    void add(std::uint64_t by) {
      n.store(n.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
    }
    std::uint64_t get() const { return n.load(std::memory_order_relaxed); }
  };
  struct alignas(64) Shard {
    Counter success_count, success_ns, fail_count, fail_ns;
    Counter queue_ns, input_ns, infer_ns, output_ns, rows;
    std::array<Counter, 4> failures;
  };

  std::vector<Shard> shards_;
  mutable Mutex mutex_;
  std::vector<BatchStatistics> batches_ TAUTO_GUARDED_BY(mutex_);
  std::optional<Instant> last_inference_ TAUTO_GUARDED_BY(mutex_);
};

}  // namespace tauto::serve
