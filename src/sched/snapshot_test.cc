// save() and restore(): the same state again, and nothing but refusals for damaged bytes.

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "sched/property.h"
#include "sched/scheduler.h"

namespace tauto::sched {
namespace {

/// The checksum is there against accidents; who mutates on purpose renews it.
std::string with_checksum(std::string bytes) {
  if (bytes.size() < 8) return bytes;
  std::uint64_t h = 0xcbf29ce484222325u;
  for (std::size_t i = 0; i + 8 < bytes.size(); ++i) {
    h = (h ^ static_cast<unsigned char>(bytes[i])) * 0x100000001b3u;
  }
  for (std::size_t i = 0; i < 8; ++i) bytes[bytes.size() - 8 + i] = static_cast<char>(h >> (8 * i));
  return bytes;
}

std::string mutated(std::string bytes, std::mt19937_64& rng) {
  for (std::uint64_t n = 1 + rng() % 3; n > 0; --n) {
    const std::size_t at = rng() % bytes.size();
    switch (rng() % 5) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << rng() % 8));
        break;
      case 1:
        bytes[at] = static_cast<char>(rng());
        break;
      case 2:
        bytes[at] = static_cast<char>(bytes[at] + (rng() % 2 == 0 ? 1 : -1));
        break;
      case 3:
        bytes.erase(at, 1 + rng() % 16);
        break;
      default: {
        const std::size_t from = rng() % bytes.size();
        bytes.insert(at, bytes.substr(from, rng() % 200));
      }
    }
    if (bytes.empty()) return "x";
  }
  return bytes;
}

/// The scheduler's `now`, behind magic and version.
Instant now_of(const std::string& bytes) {
  std::uint64_t ns = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    ns |= std::uint64_t{static_cast<unsigned char>(bytes[8 + i])} << (8 * i);
  }
  return instant_at_ns(static_cast<std::int64_t>(ns));
}

/// What was accepted must behave: any event that a caller may send is survived, and all requests
/// leave.
void live_out(Scheduler scheduler, Instant now, std::mt19937_64& rng) {
  Actions actions;
  const Instant latest = Instant{kTimeMax} - Duration{std::int64_t{1} << 40};
  const auto step = [&](const Event& event) {
    if (now >= latest) return;  // the end of time as the scheduler knows it
    actions.clear();
    scheduler.step(now, event, actions);
    now += Duration{static_cast<std::int64_t>(rng() % 1'000'000)};
  };
  step(Tick{});
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t id = rng() % 300;
    step(BatchDone{BatchId{id}, {}, BatchOutcome::kOk});
    step(Cancel{RequestId{id << 32 | rng() % 64}});
    if (const auto wake = scheduler.next_wake(); wake && *wake < latest) {
      now = std::max(now, *wake);
      step(Tick{});
    }
    if (i % 10 == 0) step(InstanceDrain{InstanceId{static_cast<std::uint32_t>(rng() % 20)}});
    if (i % 10 == 5) step(InstanceDown{InstanceId{static_cast<std::uint32_t>(rng() % 20)}});
  }
  const auto again = Scheduler::restore(scheduler.save());
  EXPECT_TRUE(again.ok());
}

TEST(Snapshot, OfNothing) {
  const std::string bytes = Scheduler().save();
  const auto restored = Scheduler::restore(bytes);
  ASSERT_TRUE(restored.ok());
  EXPECT_EQ(restored.value().save(), bytes);
  EXPECT_EQ(restored.value().next_wake(), std::nullopt);
}

TEST(Snapshot, IsTheSameInEveryBuild) {
  // FNV-1a over the snapshots of some seeds: whoever changes this number changes the format (then
  // also its version) or a decision.
  std::uint64_t h = 0xcbf29ce484222325u;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    for (const char c : snapshot_of_seed(seed)) {
      h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    }
  }
  EXPECT_EQ(h, 5780100845266161517u);
}

TEST(Snapshot, RefusesOtherBytes) {
  const std::string bytes = snapshot_of_seed(1);
  EXPECT_TRUE(Scheduler::restore(bytes).ok());
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(Scheduler::restore(bytes.substr(0, length)).ok());
  }
  EXPECT_FALSE(Scheduler::restore(bytes + '\0').ok());
  std::string newer = bytes;
  newer[4] = 2;
  const auto refused = Scheduler::restore(with_checksum(newer));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::kInvalidArgument);
  EXPECT_NE(refused.error().message.find("version 2"), std::string::npos);
}

TEST(Snapshot, NoticesAnyFlippedBit) {
  const std::string bytes = snapshot_of_seed(2);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ (1 << i % 8));
    ASSERT_FALSE(Scheduler::restore(damaged).ok()) << i;
  }
}

TEST(Snapshot, SurvivesHostileBytes) {
  std::mt19937_64 rng(7);
  int accepted = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const std::string bytes = snapshot_of_seed(seed);
    for (int i = 0; i < 100; ++i) {
      const std::string hostile = with_checksum(mutated(bytes, rng));
      auto restored = Scheduler::restore(hostile);
      if (!restored.ok()) {
        ASSERT_EQ(restored.error().code, Code::kInvalidArgument);
        continue;
      }
      ++accepted;
      live_out(std::move(restored).value(), now_of(hostile), rng);
    }
  }
  EXPECT_GT(accepted, 100) << "the mutations no longer get past the first checks";
}

}  // namespace
}  // namespace tauto::sched
