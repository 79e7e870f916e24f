#include "journey/histograms.h"

#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>
#include <vector>

namespace tauto::journey {
namespace {

Split split_of(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Split split{};
  for (auto& d : split) d = Duration(static_cast<std::int64_t>(random() >> (24 + random() % 40)));
  return split;
}

TEST(StageRecorder, CountsSumsAndExtremesAreExact) {
  StageRecorder recorder(3);
  std::array<LogHistogram, kStageCount> stages;
  LogHistogram total;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    const Split split = split_of(seed);
    recorder.record(seed % 3, Outcome::kServed, split);
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < kStageCount; ++i) {
      stages[i].add(static_cast<std::uint64_t>(to_ns(split[i])));
      sum += static_cast<std::uint64_t>(to_ns(split[i]));
    }
    total.add(sum);
  }
  const StageSnapshot s = recorder.snapshot();
  const auto same = [](const LogHistogram& a, const LogHistogram& b) {
    EXPECT_EQ(a.counts(), b.counts());
    EXPECT_EQ(a.count(), b.count());
    EXPECT_EQ(a.sum(), b.sum());
    EXPECT_EQ(a.min(), b.min());
    EXPECT_EQ(a.max(), b.max());
  };
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < kStageCount; ++i) {
    same(s.stages[i], stages[i]);
    sum += s.stages[i].sum();
  }
  same(s.total, total);
  EXPECT_EQ(sum, s.total.sum());
  EXPECT_EQ(s.outcomes[static_cast<std::size_t>(Outcome::kServed)], 3000u);
}

TEST(StageRecorder, OnlyServedRequestsEnterTheHistograms) {
  StageRecorder recorder(2);
  for (std::size_t i = 0; i < kOutcomeCount; ++i) {
    recorder.record(0, static_cast<Outcome>(i), split_of(i));
    for (std::size_t n = 0; n < i; ++n) recorder.count(1, static_cast<Outcome>(i));
  }
  const StageSnapshot s = recorder.snapshot();
  EXPECT_EQ(s.total.count(), 1u);
  for (std::size_t i = 0; i < kOutcomeCount; ++i) EXPECT_EQ(s.outcomes[i], i + 1);
}

TEST(StageRecorder, AnEmptyOneHasNothing) {
  const StageSnapshot s = StageRecorder(4).snapshot();
  EXPECT_EQ(s.total.count(), 0u);
  EXPECT_EQ(s.total.min(), 0u);
  EXPECT_EQ(s.total.max(), 0u);
  EXPECT_EQ(s.total.at_per_million(990'000), 0u);
}

TEST(StageRecorder, WritersOnTheirShardsAndReadersAtOnce) {
  constexpr std::size_t kWriters = 3;
  constexpr std::uint64_t kEach = 4000;
  StageRecorder recorder(kWriters);
  std::atomic<std::size_t> running{kWriters};
  std::vector<std::jthread> writers;
  for (std::size_t shard = 0; shard < kWriters; ++shard) {
    writers.emplace_back([&recorder, &running, shard] {
      Split split{};
      for (std::uint64_t i = 1; i <= kEach; ++i) {
        split.fill(Duration(static_cast<std::int64_t>(i)));
        recorder.record(shard, Outcome::kServed, split);
      }
      running.fetch_sub(1);
    });
  }
  std::uint64_t before = 0;
  while (running.load() != 0) {
    const StageSnapshot s = recorder.snapshot();
    ASSERT_GE(s.total.count(), before);
    ASSERT_LE(s.total.count(), kWriters * kEach);
    before = s.total.count();
  }
  writers.clear();
  const StageSnapshot s = recorder.snapshot();
  EXPECT_EQ(s.total.count(), kWriters * kEach);
  EXPECT_EQ(s.total.sum(), kWriters * kStageCount * (kEach * (kEach + 1) / 2));
  EXPECT_EQ(s.total.min(), kStageCount);
  EXPECT_EQ(s.total.max(), kStageCount * kEach);
}

}  // namespace
}  // namespace tauto::journey
