#include "lab/summary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/percentile.h"
#include "lab/objective.h"
#include "lab/series.h"
#include "report/bench_json.h"

namespace tauto::lab {
namespace {

using namespace std::chrono_literals;
using report::BenchResult;
using report::Objective;

constexpr std::int64_t kMs = 1'000'000;

/// A hand-made run: `ok(at, lag, service)`, `bad(at, outcome)` in milliseconds.
class MadeRun {
 public:
  explicit MadeRun(Duration length) {
    log.length = length;
    log.whole = length;
    log.cpu_seconds = 0.5;
  }
  void ok(std::int64_t at_ms, std::int64_t lag_ms, std::int64_t service_ms,
          std::string_view timing = "") {
    Sample s = sample(at_ms);
    s.sent_ns = (at_ms + lag_ms) * kMs;
    s.done_ns = s.sent_ns + service_ms * kMs;
    s.status = 200;
    if (!timing.empty()) s.stages = log.stages.add(timing);
    log.samples.push_back(s);
  }
  void bad(std::int64_t at_ms, Outcome outcome, std::uint16_t status = 0, std::uint8_t flags = 0) {
    Sample s = sample(at_ms);
    s.sent_ns = s.intended_ns;
    s.done_ns = s.intended_ns + 5000 * kMs;
    s.outcome = outcome;
    s.status = status;
    s.flags = flags;
    log.samples.push_back(s);
  }
  BenchResult result(Duration warmup = {}, std::string_view slo = "") const {
    BenchResult r;
    r.config.warmup = warmup;
    r.config.rate = 100;
    if (!slo.empty()) r.objective = parse_objective(slo).value();
    summarise(log, r);
    return r;
  }

  LoadLog log;

 private:
  static Sample sample(std::int64_t at_ms) {
    Sample s{};
    s.intended_ns = at_ms * kMs;
    s.stages = Sample::kNoStages;
    s.outcome = Outcome::kOk;
    return s;
  }
};

std::optional<Duration> percentile(const report::Distribution& d, std::string_view name) {
  for (const auto& p : d.percentiles) {
    if (p.name == name) return p.value;
  }
  return std::nullopt;
}

TEST(Summary, CountsByIntendedStartWithinTheMeasuredTime) {
  MadeRun run(2000ms);
  for (int i = 0; i < 200; ++i) run.ok(i * 10, 0, 5);
  const auto r = run.result(500ms);
  EXPECT_EQ(r.planned, 150u);
  EXPECT_EQ(r.ok, 150u);
  EXPECT_EQ(r.warmup_requests, 50u);
  EXPECT_EQ(r.measured, 1500ms);
  EXPECT_DOUBLE_EQ(r.rate_done, 100);
  EXPECT_DOUBLE_EQ(r.requests_per_cpu_second, 400);
}

TEST(Summary, PercentilesAreNearestRankOrSayWhatIsMissing) {
  MadeRun run(10'000ms);
  for (int i = 1; i <= 400; ++i) run.ok(i, 0, (i * 7919) % 400 + 1);  // 1..400 ms in some order
  const auto r = run.result();
  EXPECT_EQ(percentile(r.latency, "P50"), 200ms);
  EXPECT_EQ(percentile(r.latency, "P90"), 360ms);
  EXPECT_EQ(percentile(r.latency, "P99"), 396ms);
  EXPECT_EQ(percentile(r.latency, "P99.9"), std::nullopt);
  EXPECT_EQ(r.latency.percentiles.back().needed, samples_needed(0.999));
  EXPECT_EQ(r.latency.min, 1ms);
  EXPECT_EQ(r.latency.max, 400ms);
}

TEST(Summary, ErrorsAreCountedApartAndNeverInPercentiles) {
  MadeRun run(1000ms);
  for (int i = 0; i < 50; ++i) run.ok(i, 1, 9);
  for (int i = 0; i < 30; ++i) run.bad(i, Outcome::kStatus, 429);
  for (int i = 0; i < 20; ++i) run.bad(i, Outcome::kTimeout);
  run.bad(1, Outcome::kTimeout, 0, Sample::kUnsent);
  run.bad(2, Outcome::kAborted);  // counted nowhere
  const auto r = run.result();
  EXPECT_EQ(r.planned, 101u);
  EXPECT_EQ(r.sent, 100u);
  EXPECT_EQ(r.ok, 50u);
  EXPECT_EQ(r.failed, 51u);
  EXPECT_EQ(r.latency.count, 50u);
  EXPECT_EQ(r.latency.max, 10ms);
  EXPECT_EQ(r.service.max, 9ms);
  ASSERT_EQ(r.errors.size(), 3u);
  EXPECT_EQ(r.errors[0].what, "HTTP 429");
  EXPECT_EQ(r.errors[1].what, "timeout");
  EXPECT_EQ(r.errors[2].what, "timeout before sending");
}

TEST(Summary, GoodputHasErrorsAndLateOnesInItsDenominator) {
  MadeRun run(1000ms);
  for (int i = 0; i < 60; ++i) run.ok(i, 0, 30);   // exactly at the limit is within it
  for (int i = 0; i < 30; ++i) run.ok(i, 25, 10);  // late by its lag
  for (int i = 0; i < 10; ++i) run.bad(i, Outcome::kStatus, 503);
  const auto r = run.result({}, "p50<30ms");
  EXPECT_EQ(r.within, 60u);
  EXPECT_EQ(r.planned, 100u);
  EXPECT_EQ(r.objective->verdict, Objective::Verdict::kHolds);
  EXPECT_EQ(run.result({}, "p90<30ms").objective->verdict, Objective::Verdict::kFails);
  EXPECT_EQ(run.result({}, "30ms").objective->verdict, Objective::Verdict::kNone);
}

TEST(Summary, RepliesOfAnOverloadCountWhenTheyCome) {
  MadeRun run(1000ms);
  for (int i = 0; i < 100; ++i) run.ok(i * 10, 0, i < 50 ? 5 : 2000);
  EXPECT_DOUBLE_EQ(run.result().rate_done, 50);
}

TEST(Summary, ConfessesALostRate) {
  MadeRun good(10'000ms), lagging(10'000ms), unsent(10'000ms);
  for (int i = 0; i < 1000; ++i) {
    good.ok(i, 0, 100);
    lagging.ok(i, i % 50 == 0 ? 6 : 0, 100);  // 2 % are late by 6 % of the P50
    if (i % 50 == 0) {
      unsent.bad(i, Outcome::kTimeout, 0, Sample::kUnsent | Sample::kCapped);
    } else {
      unsent.ok(i, 0, 100);
    }
  }
  EXPECT_TRUE(good.result().rate_kept);
  EXPECT_FALSE(lagging.result().rate_kept);
  EXPECT_NE(lagging.result().rate_reason.find("lag P99 6.00 ms"), std::string::npos);
  EXPECT_FALSE(unsent.result().rate_kept);
  EXPECT_NE(unsent.result().rate_reason.find("only 980 of 1000"), std::string::npos);
  auto closed = lagging.result();
  closed.config.rate.reset();
  judge_rate(lagging.log, closed);
  EXPECT_TRUE(closed.rate_kept);  // a closed loop has no rate to keep
}

TEST(Summary, StagesAndLagAndNetworkSumToTheLatency) {
  MadeRun run(1000ms);
  for (int i = 0; i < 40; ++i) {
    run.ok(i, 2, 20, "receive;dur=1, wait;dur=4, compute;dur=10, total;dur=15");
  }
  const auto r = run.result();
  ASSERT_TRUE(r.server_timing);
  Duration sum{};
  std::vector<std::string> names;
  for (const auto& stage : r.stages) {
    names.push_back(stage.name);
    sum += stage.times.mean;
  }
  EXPECT_EQ(names, (std::vector<std::string>{"lag", "network", "receive", "wait", "compute"}));
  EXPECT_EQ(r.stages[1].times.mean, 5ms);
  EXPECT_EQ(sum, r.latency.mean);
  EXPECT_EQ(r.server_timing_remark, "");
}

TEST(Summary, ForeignServersMayNameTheirOwnStagesOrNone) {
  MadeRun foreign(1000ms), silent(1000ms), partly(1000ms);
  for (int i = 0; i < 40; ++i) {
    foreign.ok(i, 0, 20, "db;dur=5;desc=\"a, b\", cache, app;dur=3");
    silent.ok(i, 0, 20);
    partly.ok(i, 0, 20, i % 2 == 0 ? "compute;dur=5, total;dur=9" : "");
  }
  const auto f = foreign.result();
  ASSERT_EQ(f.stages.size(), 4u);
  EXPECT_EQ(f.stages[2].name, "db");
  EXPECT_EQ(f.stages[3].name, "app");
  EXPECT_NE(f.server_timing_remark.find("no total"), std::string::npos);
  EXPECT_FALSE(silent.result().server_timing);
  EXPECT_NE(silent.result().server_timing_remark.find("no Server-Timing"), std::string::npos);
  EXPECT_NE(partly.result().server_timing_remark.find("20 of 40"), std::string::npos);
}

TEST(StageLog, KeepsWhatFitsAndSaysWhatDoesNot) {
  StageLog log;
  EXPECT_EQ(log.add("not a header ;;; ="), Sample::kNoStages);
  EXPECT_EQ(log.add("a;dur=1, b;dur=2, c;dur=3, d;dur=4"), 0u);
  EXPECT_FALSE(log.overflowed());
  EXPECT_EQ(log.add("compute;dur=9, e;dur=5"), 1u);
  EXPECT_TRUE(log.overflowed());
  EXPECT_FLOAT_EQ(log.rows()[1][static_cast<std::size_t>(journey::Stage::kCompute)], 9);
}

TEST(Series, SecondsAreOfTheIntendedStartAndRepliesOfTheirEnd) {
  MadeRun run(3000ms);
  for (int i = 0; i < 10; ++i) run.ok(900, 0, 200);
  run.ok(2500, 0, 10);
  run.bad(1500, Outcome::kStatus, 500);
  const auto seconds = seconds_of(run.log);
  ASSERT_EQ(seconds.size(), 3u);
  EXPECT_EQ(seconds[0].asked, 10u);
  EXPECT_EQ(seconds[0].ended, 0u);
  EXPECT_EQ(seconds[1].ended, 10u);
  EXPECT_EQ(seconds[1].failed, 1u);
  EXPECT_EQ(seconds[0].p50, 200ms);
  EXPECT_EQ(seconds[0].p90, std::nullopt);  // ten samples say nothing about P90
  EXPECT_EQ(seconds[2].max, 10ms);
}

TEST(Series, DotsKeepTheSlowestAndTheFailed) {
  MadeRun run(1000ms);
  for (int i = 0; i < 20'000; ++i) run.ok(i % 1000, 0, 1);
  run.ok(777, 0, 321);
  run.bad(333, Outcome::kClosed);
  const auto dots = dots_of(run.log, Window{0, 1000 * kMs});
  EXPECT_LE(dots.size(), 3000u);
  EXPECT_TRUE(std::any_of(dots.begin(), dots.end(), [](auto& d) { return d.latency_ms == 321; }));
  EXPECT_EQ(std::count_if(dots.begin(), dots.end(), [](auto& d) { return !d.ok; }), 1);
}

TEST(Series, TheCurveRisesFromTheFastestToTheSlowest) {
  std::vector<std::int64_t> sorted;
  for (int i = 1; i <= 5000; ++i) sorted.push_back(i * kMs);
  const auto curve = curve_of(sorted);
  EXPECT_EQ(curve.front().latency_ms, 1);
  EXPECT_EQ(curve.back().latency_ms, 5000);
  for (std::size_t i = 1; i < curve.size(); ++i) {
    EXPECT_GT(curve[i].q, curve[i - 1].q);
    EXPECT_GE(curve[i].latency_ms, curve[i - 1].latency_ms);
  }
  EXPECT_TRUE(curve_of({}).empty());
}

TEST(Objective, IsReadStrictly) {
  EXPECT_DOUBLE_EQ(*parse_objective("p99<30ms").value().share, 0.99);
  EXPECT_DOUBLE_EQ(*parse_objective("P99.9 <= 1.5s").value().share, 0.999);
  EXPECT_EQ(parse_objective("30ms").value().limit, 30ms);
  for (const auto* wrong : {"", "p99", "p99<30", "99<30ms", "p0<1ms", "p100<1ms", "p99>30ms",
                            "-5ms", "p99<0", "q99<1ms"}) {
    EXPECT_FALSE(parse_objective(wrong).ok()) << wrong;
  }
}

TEST(Objective, IsUndecidedUntilThereAreEnoughRequestsOrTooManyAreLate) {
  auto verdict = [](std::uint64_t planned, std::uint64_t within) {
    auto objective = parse_objective("p99<30ms").value();
    judge(objective, planned, within);
    return objective.verdict;
  };
  using enum Objective::Verdict;
  EXPECT_EQ(verdict(367, 367), kUndecided);
  EXPECT_EQ(verdict(368, 368), kHolds);
  EXPECT_EQ(verdict(1000, 990), kHolds);
  EXPECT_EQ(verdict(1000, 989), kFails);
  EXPECT_EQ(verdict(100, 97), kUndecided);  // three late of 368 would still do
  EXPECT_EQ(verdict(100, 96), kFails);
}

TEST(BenchJson, AgreesWithTheRawSamples) {
  MadeRun run(10'000ms);
  std::vector<std::int64_t> raw;
  for (int i = 0; i < 5000; ++i) {
    const std::int64_t service = (i * 7919) % 997 + 1;
    run.ok(i * 2, i % 3, service);
    raw.push_back((service + i % 3) * kMs);
  }
  std::sort(raw.begin(), raw.end());
  const auto json = nlohmann::json::parse(report::bench_json(run.result()));
  for (const auto& p : json["latency"]["percentiles"]) {
    const auto exact = nearest_rank(std::span<const std::int64_t>(raw), p["q"].get<double>());
    EXPECT_EQ(p["value_ns"].get<std::int64_t>(), exact) << p["name"];
  }
  std::uint64_t in_histogram = 0, in_seconds = 0;
  for (const auto& bucket : json["latency_histogram"])
    in_histogram += bucket[1].get<std::uint64_t>();
  for (const auto& second : json["seconds"]) in_seconds += second["ok"].get<std::uint64_t>();
  EXPECT_EQ(in_histogram, 5000u);
  EXPECT_EQ(in_seconds, 5000u);
  EXPECT_EQ(json["latency"]["max_ns"].get<std::int64_t>(), raw.back());
}

}  // namespace
}  // namespace tauto::lab
