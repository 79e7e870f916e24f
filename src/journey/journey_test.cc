#include "journey/journey.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

namespace tauto::journey {
namespace {

Duration sum_of(const Split& split) {
  return std::accumulate(split.begin(), split.end(), Duration{});
}

Duration at(const Split& split, Stage stage) { return split[static_cast<std::size_t>(stage)]; }

TEST(Journey, EachStageGetsItsOwnTime) {
  Journey j(instant_at_ns(1000));
  j.mark(Stage::kReceive, instant_at_ns(1010));
  j.mark(Stage::kParse, instant_at_ns(1030));
  j.mark(Stage::kWait, instant_at_ns(1100));  // prepare and hold did not happen
  j.set_hold(Duration(25));
  j.mark(Stage::kSend, instant_at_ns(1107));
  const Split split = j.split();
  EXPECT_EQ(at(split, Stage::kReceive), Duration(10));
  EXPECT_EQ(at(split, Stage::kParse), Duration(20));
  EXPECT_EQ(at(split, Stage::kPrepare), Duration(0));
  EXPECT_EQ(at(split, Stage::kHold), Duration(25));
  EXPECT_EQ(at(split, Stage::kWait), Duration(45));
  EXPECT_EQ(at(split, Stage::kSend), Duration(7));
  EXPECT_EQ(sum_of(split), j.total());
  EXPECT_EQ(j.total(), Duration(107));
}

TEST(Journey, AStampThatGoesBackTakesNoTime) {
  Journey j(instant_at_ns(100));
  j.mark(Stage::kReceive, instant_at_ns(90));
  EXPECT_EQ(j.total(), Duration(0));
  j.mark(Stage::kParse, instant_at_ns(120));
  j.mark(Stage::kWait, instant_at_ns(110));
  j.mark(Stage::kBind, instant_at_ns(125));
  EXPECT_EQ(at(j.split(), Stage::kParse), Duration(20));
  EXPECT_EQ(at(j.split(), Stage::kWait), Duration(0));
  EXPECT_EQ(at(j.split(), Stage::kBind), Duration(5));
}

TEST(Journey, HoldIsClampedIntoTheQueueTime) {
  Journey j(instant_at_ns(0));
  j.mark(Stage::kWait, instant_at_ns(50));
  j.set_hold(Duration(80));
  EXPECT_EQ(at(j.split(), Stage::kHold), Duration(50));
  EXPECT_EQ(at(j.split(), Stage::kWait), Duration(0));
  j.set_hold(Duration(-3));
  EXPECT_EQ(at(j.split(), Stage::kHold), Duration(0));
  EXPECT_EQ(at(j.split(), Stage::kWait), Duration(50));
}

TEST(Journey, StoppedEarlyTheRestBelongsToWhereItStopped) {
  Journey j(instant_at_ns(0));
  j.mark(Stage::kReceive, instant_at_ns(5));
  j.mark(Stage::kParse, instant_at_ns(9));
  j.mark(Stage::kSend, instant_at_ns(12));
  EXPECT_EQ(at(j.split(), Stage::kParse), Duration(4));
  EXPECT_EQ(at(j.split(), Stage::kSend), Duration(3));
  EXPECT_EQ(at(j.split(), Stage::kCompute), Duration(0));
}

/// The invariant: whatever the stamps, the stages sum to the total and none is negative.
TEST(JourneyProperty, StagesSumToTheTotalExactly) {
  for (std::uint64_t seed = 0; seed < 20'000; ++seed) {
    std::mt19937_64 random(seed);
    const auto below = [&](std::int64_t n) {
      return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
    };
    Instant now = instant_at_ns(below(1'000'000'000'000));
    const Instant started = now;
    Instant latest = started;
    Journey j(started);
    for (std::size_t stage = 0; stage < kStageCount; ++stage) {
      if (below(4) == 0 || static_cast<Stage>(stage) == Stage::kHold) continue;
      now += Duration(below(10'000'000) - (below(3) == 0 ? 5'000'000 : 0));  // may go back
      latest = std::max(latest, now);
      j.mark(static_cast<Stage>(stage), now);
      if (below(3) == 0) j.set_hold(Duration(below(20'000'000) - 1'000'000));
    }
    const Split split = j.split();
    ASSERT_EQ(sum_of(split), j.total()) << "seed " << seed;
    ASSERT_EQ(j.last(), latest) << "seed " << seed;
    ASSERT_EQ(j.total(), latest - started) << "seed " << seed;
    for (const auto d : split) ASSERT_GE(d, Duration{}) << "seed " << seed;
  }
}

TEST(Stage, NamesReadBack) {
  for (std::size_t i = 0; i < kStageCount; ++i) {
    EXPECT_EQ(stage_from_name(kStageNames[i]), static_cast<Stage>(i));
  }
  EXPECT_EQ(stage_from_name("network"), std::nullopt);
}

}  // namespace
}  // namespace tauto::journey
