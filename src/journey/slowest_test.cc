#include "journey/slowest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <random>
#include <thread>

namespace tauto::journey {
namespace {

constexpr std::int64_t kMinute = 60'000'000'000;

Exemplar ended(std::int64_t end_ns, std::int64_t total_ns, std::uint64_t request = 0) {
  Exemplar e;
  e.request = request;
  e.started = instant_at_ns(end_ns - total_ns);
  e.total = Duration(total_ns);
  return e;
}

std::vector<std::int64_t> totals(const Slowest::Minute& minute) {
  std::vector<std::int64_t> result;
  for (const auto& e : minute.requests) result.push_back(to_ns(e.total));
  return result;
}

TEST(Slowest, KeepsTheSlowestFewSlowestFirst) {
  Slowest slowest({.per_minute = 3, .minutes = 2});
  for (const std::int64_t total : {5, 1, 9, 7, 2, 8})
    slowest.offer(ended(10 * kMinute + 100, total));
  const auto minutes = slowest.snapshot(instant_at_ns(10 * kMinute + 200));
  ASSERT_EQ(minutes.size(), 1u);
  EXPECT_EQ(minutes[0].start, instant_at_ns(10 * kMinute));
  EXPECT_EQ(totals(minutes[0]), (std::vector<std::int64_t>{9, 8, 7}));
}

TEST(Slowest, AFastRequestIsRefusedOnceTheMinuteIsFull) {
  Slowest slowest({.per_minute = 2, .minutes = 3});
  const auto wants = [&](std::int64_t total, std::int64_t end) {
    return slowest.wants(Duration(total), instant_at_ns(end));
  };
  EXPECT_TRUE(wants(0, kMinute));
  slowest.offer(ended(kMinute + 10, 50));
  EXPECT_TRUE(wants(0, kMinute + 20));  // still room
  slowest.offer(ended(kMinute + 20, 70));
  EXPECT_FALSE(wants(50, kMinute + 30));
  EXPECT_TRUE(wants(51, kMinute + 30));
  EXPECT_FALSE(wants(10, 2 * kMinute - 1));
  EXPECT_TRUE(wants(10, 2 * kMinute));  // a new minute begins
  slowest.offer(ended(2 * kMinute, 10));
  EXPECT_TRUE(wants(5, 2 * kMinute + 1));
}

TEST(Slowest, OldMinutesLeaveTheWindow) {
  Slowest slowest({.per_minute = 1, .minutes = 3});
  for (std::int64_t m = 1; m <= 5; ++m) slowest.offer(ended(m * kMinute + 5, m + 1));
  auto minutes = slowest.snapshot(instant_at_ns(5 * kMinute + 10));
  ASSERT_EQ(minutes.size(), 3u);
  EXPECT_EQ(minutes[0].start, instant_at_ns(5 * kMinute));
  EXPECT_EQ(minutes[2].start, instant_at_ns(3 * kMinute));
  EXPECT_EQ(slowest.snapshot(instant_at_ns(7 * kMinute)).size(), 1u);
  EXPECT_EQ(slowest.snapshot(instant_at_ns(8 * kMinute)).size(), 0u);
}

TEST(Slowest, AStragglerStillFindsItsMinuteButNotALostOne) {
  Slowest slowest({.per_minute = 2, .minutes = 2});
  slowest.offer(ended(10 * kMinute + 1, 5));
  slowest.offer(ended(9 * kMinute + 59, 8));
  slowest.offer(ended(8 * kMinute + 1, 100));  // two minutes back: out of the window
  const auto minutes = slowest.snapshot(instant_at_ns(10 * kMinute + 2));
  ASSERT_EQ(minutes.size(), 2u);
  EXPECT_EQ(totals(minutes[1]), (std::vector<std::int64_t>{8}));
}

TEST(Slowest, ClientIdsAreCutBetweenCharacters) {
  Slowest slowest;
  Exemplar e = ended(kMinute, 1);
  e.client_id = std::string(63, 'a') + "\xc3\xa9rest";
  slowest.offer(e);
  e.client_id = std::string(64, 'b') + "c";
  slowest.offer(e);
  const auto minutes = slowest.snapshot(instant_at_ns(kMinute));
  EXPECT_EQ(minutes[0].requests[0].client_id, std::string(63, 'a'));
  EXPECT_EQ(minutes[0].requests[1].client_id, std::string(64, 'b'));
}

/// Asking wants() first never loses one of the slowest (one thread).
TEST(SlowestProperty, SameAsSortingEverything) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    std::mt19937_64 random(seed);
    Slowest slowest({.per_minute = 4, .minutes = 5});
    std::map<std::int64_t, std::vector<std::int64_t>> reference;
    std::int64_t now = 100 * kMinute;
    for (int i = 0; i < 300; ++i) {
      now += static_cast<std::int64_t>(random() % (kMinute / 20));
      const auto total = static_cast<std::int64_t>(random() % 1000);
      reference[now / kMinute].push_back(total);
      if (slowest.wants(Duration(total), instant_at_ns(now))) slowest.offer(ended(now, total));
    }
    for (const auto& minute : slowest.snapshot(instant_at_ns(now))) {
      auto& all = reference[to_ns(minute.start) / kMinute];
      std::sort(all.rbegin(), all.rend());
      all.resize(std::min<std::size_t>(all.size(), 4));
      ASSERT_EQ(totals(minute), all) << "seed " << seed;
    }
  }
}

TEST(Slowest, ManyThreadsLoseNothing) {
  Slowest slowest({.per_minute = 10, .minutes = 15});
  std::atomic<int> running{3};
  std::vector<std::jthread> threads;
  for (std::int64_t t = 0; t < 3; ++t) {
    threads.emplace_back([&slowest, &running, t] {
      for (std::int64_t i = 0; i < 3000; ++i) {
        const std::int64_t total = i * 3 + t;
        if (slowest.wants(Duration(total), instant_at_ns(20 * kMinute + i))) {
          slowest.offer(ended(20 * kMinute + total, total));
        }
      }
      running.fetch_sub(1);
    });
  }
  while (running.load() != 0) (void)slowest.snapshot(instant_at_ns(20 * kMinute));
  threads.clear();
  const auto minutes = slowest.snapshot(instant_at_ns(20 * kMinute));
  ASSERT_EQ(minutes.size(), 1u);
  std::vector<std::int64_t> expected;
  for (std::int64_t i = 0; i < 10; ++i) expected.push_back(8999 - i);
  EXPECT_EQ(totals(minutes[0]), expected);
}

}  // namespace
}  // namespace tauto::journey
