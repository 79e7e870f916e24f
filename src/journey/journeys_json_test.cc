#include "journey/journeys_json.h"

#include <gtest/gtest.h>

#include <random>

namespace tauto::journey {
namespace {

std::string text_of(const LogHistogram& h) {
  std::string out;
  append_histogram_json(h, out);
  return out;
}

TEST(HistogramJson, ExactBucketsAndOnlyHonestPercentiles) {
  EXPECT_EQ(text_of({}), R"({"unit":"ns","count":0,"sum":0,"min":0,"max":0,"p50":null,"p90":null,)"
                         R"("p99":null,"p999":null,"buckets":[]})");
  LogHistogram h;
  for (int i = 0; i < 6; ++i) h.add(7);
  h.add(1000, 2);
  EXPECT_EQ(text_of(h),
            R"({"unit":"ns","count":8,"sum":2042,"min":7,"max":1000,"p50":7,"p90":null,)"
            R"("p99":null,"p999":null,"buckets":[[7,6],[1000,2]]})");
}

TEST(ReduceToBounds, CumulativeAndComplete) {
  LogHistogram h;
  for (const std::uint64_t v : {0U, 1000U, 1001U, 1'000'000U, 1'050'000U}) h.add(v);
  h.add(70'000'000'000U);
  const auto counts = reduce_to_bounds(h);
  EXPECT_EQ(counts[0], 3u);  // 1 us; 1001 ns shares the bucket of 1000 ns
  EXPECT_EQ(counts[8], 3u);  // 500 us
  EXPECT_EQ(counts[9], 4u);  // 1 ms
  EXPECT_EQ(counts[10], 5u);
  EXPECT_EQ(counts[23], 5u);  // 60 s
  EXPECT_EQ(counts[24], 6u);  // +Inf
}

TEST(ReduceToBounds, NeverFurtherThanOneLogBucketFromTheTruth) {
  std::mt19937_64 random(3);
  LogHistogram h;
  std::vector<std::uint64_t> values;
  for (int i = 0; i < 5000; ++i) {
    values.push_back(random() >> (26 + random() % 38));
    h.add(values.back());
  }
  const auto counts = reduce_to_bounds(h);
  for (std::size_t b = 0; b < kBoundsSeconds.size(); ++b) {
    const double bound = kBoundsSeconds[b] * 1e9;
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    for (const auto v : values) {
      if (static_cast<double>(v) <= bound + 0.5) ++low;
      if (static_cast<double>(v) <= bound * (1 + 1.0 / 64)) ++high;
    }
    EXPECT_GE(counts[b], low) << bound;
    EXPECT_LE(counts[b], high) << bound;
  }
  EXPECT_EQ(counts.back(), values.size());
}

TEST(JourneysJson, APage) {
  StageRecorder recorder(1);
  Split split{};
  for (std::size_t i = 0; i < kStageCount; ++i) split[i] = Duration(static_cast<std::int64_t>(i));
  recorder.record(0, Outcome::kServed, split);
  recorder.count(0, Outcome::kShed);
  Slowest slowest;
  Exemplar e;
  e.request = 9;
  e.client_id = "q\"1";
  e.model = "m";
  e.version = "1";
  e.labels = {{"tenant", "a"}};
  e.started = instant_at_ns(60'000'000'000);
  e.total = Duration(55);
  e.stages = split;
  e.batch_rows = 4;
  e.batch_requests = 2;
  e.batch = 77;
  e.queue_depth = 3;
  e.instance = 1;
  e.dispatch_reason = "full";
  slowest.offer(e);
  e.outcome = Outcome::kExpired;
  e.batch_rows = 0;
  e.total = Duration(50);
  e.labels.clear();
  slowest.offer(e);
  LabelTable table({.names = {"tenant"}, .values_max = 1, .value_length_max = 8, .shards = 1});
  table.record(0, *table.find("tenant", "a"), Outcome::kServed, Duration(55));
  const StageSnapshot stages = recorder.snapshot();
  const Instant now = instant_at_ns(61'500'000'000);
  const auto minutes = slowest.snapshot(now);
  const auto labels = table.snapshot();
  std::string out;
  append_journeys_json({"m", "1", now, stages, minutes, labels}, out);

  const auto histogram = [](int v) {
    const std::string t = std::to_string(v);
    return R"({"unit":"ns","count":1,"sum":)" + t + R"(,"min":)" + t + R"(,"max":)" + t +
           R"(,"p50":null,"p90":null,"p99":null,"p999":null,"buckets":[[)" + t + ",1]]}";
  };
  std::string expected =
      R"({"model":"m","version":"1","outcomes":{"served":1,"failed":0,"expired":0,)"
      R"("queue_timeout":0,"shed":1,"cancelled":0,"invalid":0,"lost":0},"total":)" +
      histogram(55) + R"(,"stages":{)";
  for (std::size_t i = 0; i < kStageCount; ++i) {
    expected +=
        (i ? ",\"" : "\"") + std::string(kStageNames[i]) + "\":" + histogram(static_cast<int>(i));
  }
  const std::string split_text =
      R"({"receive":0,"parse":1,"prepare":2,"hold":3,"wait":4,"bind":5,"compute":6,"unbind":7,)"
      R"("finish":8,"reply":9,"send":10})";
  expected +=
      R"(},"slowest":[{"started_seconds_ago":1.5,"requests":[{"request":9,"id":"q\"1",)"
      R"("model":"m","version":"1","labels":{"tenant":"a"},"started_seconds_ago":1.5,)"
      R"("outcome":"served","total_ns":55,"stages_ns":)" +
      split_text +
      R"(,"queue_depth":3,"batch":{"number":77,"rows":4,"requests":2,"instance":1,)"
      R"("reason":"full"}},)"
      R"({"request":9,"id":"q\"1","model":"m","version":"1","labels":{},"started_seconds_ago":1.5,)"
      R"("outcome":"expired","total_ns":50,"stages_ns":)" +
      split_text +
      R"(,"queue_depth":3,"batch":null}]}],"labels":[{"name":"tenant","value":"a",)"
      R"("outcomes":{"served":1,"failed":0,"expired":0,"queue_timeout":0,"shed":0,"cancelled":0,)"
      R"("invalid":0,"lost":0},"total":)" +
      histogram(55) + "}]}";
  EXPECT_EQ(out, expected);
}

}  // namespace
}  // namespace tauto::journey
