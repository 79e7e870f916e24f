// The data structures against the standard library's, and what is not allocated.

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <tuple>

#include "sched/counting_new.h"
#include "sched/id_map.h"
#include "sched/scheduler.h"
#include "sched/time_heap.h"

namespace tauto::sched {
namespace {

TEST(IdMap, AgreesWithStdMap) {
  std::mt19937_64 rng(1);
  IdMap map;
  std::map<std::uint64_t, std::uint32_t> plain;
  for (std::uint32_t i = 0; i < 20'000; ++i) {
    const std::uint64_t id = rng() % 3 == 0 ? (rng() % 64) << 32 : rng() % 64;
    const auto found = plain.find(id);
    ASSERT_EQ(map.find(id), found == plain.end() ? IdMap::kAbsent : found->second);
    if (found == plain.end()) {
      map.insert(id, i);
      plain[id] = i;
    } else {
      map.erase(id);
      plain.erase(found);
    }
    ASSERT_EQ(map.size(), plain.size());
  }
  for (const auto& [id, slot] : plain) EXPECT_EQ(map.find(id), slot);
}

TEST(TimeHeap, AgreesWithStdSet) {
  std::mt19937_64 rng(2);
  TimeHeap heap;
  std::set<std::tuple<Instant, std::uint64_t, std::uint32_t>> plain;
  std::map<std::uint32_t, Instant> times;
  for (int i = 0; i < 20'000; ++i) {
    const auto slot = static_cast<std::uint32_t>(rng() % 40);
    const std::uint64_t tie = 1000 - slot;
    if (const auto old = times.find(slot); old != times.end()) {
      ASSERT_EQ(heap.at(slot), old->second);
      plain.erase({old->second, tie, slot});
      times.erase(old);
    }
    if (rng() % 3 == 0) {
      heap.erase(slot);
      EXPECT_EQ(heap.at(slot), std::nullopt);
    } else {
      times[slot] = instant_at_ns(static_cast<std::int64_t>(rng() % 20));
      heap.set(slot, times[slot], tie);
      plain.emplace(times[slot], tie, slot);
    }
    ASSERT_EQ(heap.empty(), plain.empty());
    if (!plain.empty()) {
      ASSERT_EQ(heap.top().slot, std::get<2>(*plain.begin()));
    }
  }
}

/// A burst comes, expires in part, is cancelled in part and is served, under every policy.
TEST(Scheduler, AllocatesNothingAfterWarmUp) {
  for (std::uint8_t policy = 0; policy < 4; ++policy) {
    Scheduler scheduler;
    Actions actions;
    ModelSettings settings;
    settings.policy = static_cast<PolicyKind>(policy);
    settings.rows_max = settings.rows_fixed = 8;
    settings.hold_max = Duration{3000};
    scheduler.step(Instant{}, Configure{ModelId{1}, settings}, actions);
    scheduler.step(Instant{}, InstanceUp{InstanceId{1}, ModelId{1}}, actions);
    Instant now{};
    std::uint64_t id = 0;
    std::uint64_t batch = 0;
    std::uint64_t expired = 0;
    const auto step = [&](const Event& event) {
      now += Duration{100};
      actions.clear();
      scheduler.step(now, event, actions);
      for (const auto& d : actions.dispatches) batch = d.batch.value;
      for (const auto& a : actions.answers) expired += a.kind == AnswerKind::kExpired;
    };
    const auto burst = [&] {
      for (int i = 0; i < 100; ++i) {
        Arrive a;
        a.id = RequestId{++id};
        a.model = ModelId{1};
        a.deadline = now + Duration{5000 + 1000 * (i % 17)};
        step(a);
        if (i % 9 == 0) step(Cancel{a.id});
      }
      while (scheduler.open_requests() > 0) step(BatchDone{BatchId{batch}, {}, BatchOutcome::kOk});
    };
    for (int i = 0; i < 5; ++i) burst();
    const std::size_t before = allocation_count();
    for (int i = 0; i < 20; ++i) burst();
    EXPECT_EQ(allocation_count() - before, 0u) << "policy " << int{policy};
    EXPECT_GT(expired, 0u);
  }
}

}  // namespace
}  // namespace tauto::sched
