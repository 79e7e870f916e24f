// l(b) measured on an instance whose times are known: table, warmth, when to stop, when it pays.
#include "engine/profile.h"

#include <gtest/gtest.h>

#include <map>

#include "engine/engine_test_util.h"

namespace tauto::engine {
namespace {

using namespace std::chrono_literals;

class ManualTime final : public TimeSource {
 public:
  Instant now() const override { return now_; }
  void advance(Duration d) { now_ += d; }

 private:
  Instant now_{};
};

/// Takes exactly `time(rows, nth run of that size)`.
class ScriptedInstance final : public Instance {
 public:
  using Script = std::function<Duration(std::uint32_t rows, int nth)>;
  ScriptedInstance(ManualTime& time, Script script) : time_(time), script_(std::move(script)) {}

  Status run(const Batch& batch, BatchOutput&, BatchTimes&) override {
    if (batch.rows >= fails_from) return Error{Code::kInternal, "no memory"};
    time_.advance(script_(batch.rows, runs[batch.rows]++));
    return Unit{};
  }

  std::map<std::uint32_t, int> runs;
  std::uint32_t fails_from = ~0u;

 private:
  ManualTime& time_;
  Script script_;
};

class Profile : public ::testing::Test {
 protected:
  ServiceProfile measure(ScriptedInstance& instance, const ProfilePlan& plan) {
    const BatchMaker make = [this](std::uint32_t rows) -> Result<Batch> {
      items_.assign(rows, BatchItem{1, {}});
      return Batch{items_, rows};
    };
    auto profile = measure_service_time(instance, make, plan, time_);
    EXPECT_TRUE(profile.ok());
    return profile.ok() ? profile.value() : ServiceProfile{};
  }

  ManualTime time_;
  std::vector<BatchItem> items_;
};

TEST_F(Profile, MeasuresEverySizeWhileBatchingPays) {
  ScriptedInstance instance(time_, [](std::uint32_t rows, int) { return 1ms + rows * 100us; });
  const auto profile = measure(instance, {.rows_max = 12});
  EXPECT_EQ(profile.rows_warmed, 12u);
  EXPECT_EQ(profile.rows_best, 12u);
  EXPECT_TRUE(profile.batching_pays);
  EXPECT_EQ(profile.stopped, "");
  for (const std::uint32_t rows : {1u, 2u, 4u, 8u, 12u}) {
    EXPECT_TRUE(profile.service_time.measured(rows)) << rows;
    EXPECT_EQ(profile.service_time.mean(rows), 1ms + rows * 100us);
  }
  EXPECT_FALSE(profile.service_time.measured(3));
}

TEST_F(Profile, StopsWhenTimePerRowStopsFalling) {
  ScriptedInstance instance(time_, [](std::uint32_t rows, int) { return rows * 10us; });
  const auto profile = measure(instance, {.rows_max = 32});
  EXPECT_EQ(profile.rows_warmed, 2u);
  EXPECT_FALSE(profile.batching_pays);
  EXPECT_EQ(profile.stopped, "time per row stopped falling at 2 rows");
  EXPECT_EQ(instance.runs.count(4), 0u);

  ScriptedInstance again(time_, [](std::uint32_t rows, int) { return rows * 10us; });
  EXPECT_EQ(measure(again, {.rows_max = 32, .stop_when_flat = false}).rows_warmed, 32u);
}

TEST_F(Profile, GoesOnWhileTimePerRowFallsByMoreThanThreePerCent) {
  const auto warmed_with = [this](Duration two_rows) {
    ScriptedInstance instance(time_, [two_rows](std::uint32_t rows, int) {
      return rows == 2 ? two_rows : Duration{1ms} * static_cast<int>(rows);
    });
    return measure(instance, {.rows_max = 32}).rows_warmed;
  };
  EXPECT_EQ(warmed_with(1960us), 2u);
  EXPECT_EQ(warmed_with(1920us), 4u);
}

TEST_F(Profile, SaysThatBatchingPaysOnlyFromATenthOn) {
  // l(2)/2 is 95 % of l(1): falling, but not enough.
  ScriptedInstance little(time_, [](std::uint32_t rows, int) {
    return rows == 1 ? Duration{1000us} : Duration{1900us};
  });
  EXPECT_FALSE(measure(little, {.rows_max = 2}).batching_pays);
  ScriptedInstance enough(time_, [](std::uint32_t rows, int) {
    return rows == 1 ? Duration{1000us} : Duration{1780us};
  });
  EXPECT_TRUE(measure(enough, {.rows_max = 2}).batching_pays);
}

TEST_F(Profile, TheFirstRunIsToldApartAndWarmingRunsDoNotCount) {
  ScriptedInstance instance(time_, [](std::uint32_t rows, int nth) {
    return nth == 0 ? Duration{50ms} : Duration{rows * 1ms};
  });
  const auto profile = measure(instance, {.rows_max = 1});
  EXPECT_EQ(profile.first_run, 50ms);
  EXPECT_EQ(profile.service_time.high(1), 1ms);
}

TEST_F(Profile, MeanIsTheMedianAndHighSeesTheTail) {
  ScriptedInstance instance(time_, [](std::uint32_t, int nth) {
    if (nth % 5 == 4) return Duration{9ms};
    return nth % 5 == 0 ? Duration{500us} : Duration{1ms};
  });
  const auto profile = measure(instance, {.rows_max = 1, .runs_min = 10, .runs_max = 10});
  EXPECT_EQ(profile.service_time.mean(1), 1ms);
  EXPECT_EQ(profile.service_time.high(1), 9ms);
  EXPECT_EQ(instance.runs[1], 11);
}

TEST_F(Profile, KeepsToItsBudgetButAlwaysMeasuresOneRow) {
  ScriptedInstance slow(time_, [](std::uint32_t rows, int) { return 1s + rows * 500ms; });
  const Instant start = time_.now();
  const auto profile = measure(slow, {.rows_max = 8, .budget = 3s});
  EXPECT_EQ(profile.rows_warmed, 1u);
  EXPECT_EQ(slow.runs[1], 4);
  EXPECT_NE(profile.stopped.find("2 rows would take about"), std::string::npos);
  EXPECT_EQ(time_.now() - start, 6s);

  // Time is left, but four batches of two rows would likely not fit in it.
  ScriptedInstance middling(time_, [](std::uint32_t, int) { return 100ms; });
  const Instant middling_start = time_.now();
  EXPECT_EQ(measure(middling, {.rows_max = 8, .budget = 1s}).rows_warmed, 1u);
  EXPECT_LT(time_.now() - middling_start, 1s);

  ScriptedInstance quick(time_, [](std::uint32_t rows, int) { return 1ms + rows * 1ns; });
  const Instant quick_start = time_.now();
  EXPECT_EQ(measure(quick, {.rows_max = 64, .budget = 100ms}).rows_warmed, 64u);
  EXPECT_LE(time_.now() - quick_start, 110ms);
}

TEST_F(Profile, ALargeSizeThatFailsOnlyEndsIt) {
  ScriptedInstance instance(time_, [](std::uint32_t rows, int) { return 1ms + rows * 1us; });
  instance.fails_from = 4;
  const auto profile = measure(instance, {.rows_max = 16});
  EXPECT_EQ(profile.rows_warmed, 2u);
  EXPECT_EQ(profile.stopped, "4 rows: no memory");

  instance.fails_from = 1;
  const auto none = measure_service_time(
      instance,
      [this](std::uint32_t rows) -> Result<Batch> {
        items_.assign(rows, BatchItem{1, {}});
        return Batch{items_, rows};
      },
      {}, time_);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().message, "no memory");
  const auto no_maker = measure_service_time(
      instance,
      [](std::uint32_t) -> Result<Batch> {
        return Error{Code::kInvalidArgument, "free dims"};
      },
      {}, time_);
  ASSERT_FALSE(no_maker.ok());
  EXPECT_EQ(no_maker.error().message, "free dims");
}

TEST_F(Profile, AModelWithoutBatchDimensionHasOneSize) {
  ScriptedInstance instance(time_, [](std::uint32_t, int) { return 2ms; });
  const auto profile = measure(instance, {.rows_max = 0});
  EXPECT_EQ(profile.rows_warmed, 1u);
  EXPECT_FALSE(profile.batching_pays);
  EXPECT_EQ(profile.stopped, "");
}

}  // namespace
}  // namespace tauto::engine
