// Triton's counters, and the one table of statuses.
#include "serve/statistics.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "serve/status_map.h"

namespace tauto::serve {
namespace {

using namespace std::chrono_literals;

TEST(Statistics, ShardsAddUpWhileTheyAreRead) {
  Statistics statistics(3);
  constexpr std::uint64_t kEach = 20'000;
  {
    std::vector<std::jthread> loops;
    for (std::size_t shard = 0; shard < 3; ++shard) {
      loops.emplace_back([&statistics, shard] {
        for (std::uint64_t i = 0; i < kEach; ++i) {
          statistics.add_success(shard, 2, {10ns, 4ns, 1ns, 3ns, 2ns});
          if (i % 4 == 0) statistics.add_failure(shard, FailureReason::kRejected, 7ns);
        }
      });
    }
    std::uint64_t before = 0;
    for (int i = 0; i < 200; ++i) {
      const auto now = statistics.snapshot().success_count;
      EXPECT_GE(now, before);
      before = now;
    }
  }
  const auto s = statistics.snapshot();
  EXPECT_EQ(s.success_count, 3 * kEach);
  EXPECT_EQ(s.success_ns, 30 * kEach);
  EXPECT_EQ(s.queue_ns, 12 * kEach);
  EXPECT_EQ(s.input_ns + s.infer_ns + s.output_ns, 18 * kEach);
  EXPECT_EQ(s.inference_count, 6 * kEach);
  EXPECT_EQ(s.fail_count, 3 * kEach / 4);
  EXPECT_EQ(s.failures[0], 3 * kEach / 4);
  EXPECT_EQ(s.failures[1] + s.failures[2] + s.failures[3], 0u);
}

TEST(Statistics, BatchesAreKeptBySize) {
  Statistics statistics(1);
  statistics.add_batch({4, 1, 1, 10, 2}, Instant{} + 1ms);
  statistics.add_batch({1, 1, 1, 5, 1}, Instant{} + 2ms);
  statistics.add_batch({4, 1, 3, 20, 2}, Instant{} + 3ms);
  const auto s = statistics.snapshot();
  ASSERT_EQ(s.batches.size(), 2u);
  EXPECT_EQ(s.batches[0].rows, 1u);
  EXPECT_EQ(s.batches[1].rows, 4u);
  EXPECT_EQ(s.batches[1].count, 2u);
  EXPECT_EQ(s.batches[1].infer_ns, 30u);
  EXPECT_EQ(s.execution_count, 3u);
  EXPECT_EQ(s.last_inference, Instant{} + 3ms);
}

TEST(StatusMap, EveryCodeHasItsOwnStatus) {
  std::set<unsigned> seen;
  for (const Code code :
       {Code::kInvalidArgument, Code::kNotFound, Code::kResourceExhausted, Code::kCancelled,
        Code::kInternal, Code::kUnimplemented, Code::kUnavailable, Code::kDeadlineExceeded}) {
    EXPECT_TRUE(seen.insert(http_status(code)).second);
  }
  EXPECT_EQ(http_status(code_of(sched::AnswerKind::kShed)), 429u);
  EXPECT_EQ(http_status(code_of(sched::AnswerKind::kExpired)), 504u);
  EXPECT_EQ(http_status(code_of(sched::AnswerKind::kQueueTimeout)), 503u);
  EXPECT_EQ(http_status(code_of(sched::AnswerKind::kRetired)), 503u);
}

}  // namespace
}  // namespace tauto::serve
