// The ground under every room: buckets, percentiles, units, words, JSON.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "base/json_writer.h"
#include "base/log_histogram.h"
#include "base/percentile.h"
#include "base/text.h"

namespace tauto {
namespace {

using namespace std::chrono_literals;

TEST(LogBuckets, EveryValueLiesInItsBucketAndTheMiddleIsWithinOnePercent) {
  std::mt19937_64 rng(7);
  for (int i = 0; i < 200'000; ++i) {
    const std::uint64_t v = (rng() & LogBuckets::kValueMax) >> (rng() % 42);
    const auto index = LogBuckets::index_of(v);
    ASSERT_LT(index, LogBuckets::kCount);
    ASSERT_LE(LogBuckets::lower(index), v);
    ASSERT_LT(v, LogBuckets::lower(index + 1));
    const auto middle = static_cast<double>(LogBuckets::middle(index));
    const auto exact = static_cast<double>(v);
    ASSERT_LE(std::abs(middle - exact), 0.01 * exact) << v;
  }
}

TEST(LogBuckets, BoundsRiseWithoutGaps) {
  for (std::size_t i = 0; i < LogBuckets::kCount; ++i) {
    ASSERT_LT(LogBuckets::lower(i), LogBuckets::lower(i + 1));
    ASSERT_EQ(LogBuckets::index_of(LogBuckets::lower(i)), i);
  }
}

TEST(LogHistogram, PercentilesFollowNearestRankWithinOnePercent) {
  std::mt19937_64 rng(11);
  std::vector<std::uint64_t> raw;
  LogHistogram all;
  LogHistogram left;
  LogHistogram right;
  for (int i = 0; i < 20'001; ++i) {
    const std::uint64_t v = 1000 + rng() % 50'000'000;
    raw.push_back(v);
    all.add(v);
    (i % 3 == 0 ? left : right).add(v);
  }
  left.merge(right);
  std::sort(raw.begin(), raw.end());
  for (const std::uint64_t ppm : {1'000u, 500'000u, 900'000u, 990'000u, 999'000u, 1'000'000u}) {
    const auto exact =
        static_cast<double>(nearest_rank<std::uint64_t>(raw, static_cast<double>(ppm) / 1e6));
    EXPECT_NEAR(static_cast<double>(all.at_per_million(ppm)), exact, 0.01 * exact);
    EXPECT_EQ(all.at_per_million(ppm), left.at_per_million(ppm)) << "merging must change nothing";
  }
  EXPECT_EQ(all.sum(), left.sum());
  EXPECT_EQ(all.max(), raw.back());
  EXPECT_EQ(all.min(), raw.front());
}

TEST(LogHistogram, ValuesBeyondTheRangeCountAsTheLargest) {
  LogHistogram h;
  h.add(~std::uint64_t{0});
  EXPECT_EQ(h.count(), 1u);
  EXPECT_EQ(LogHistogram().at_per_million(500'000), 0u);
}

TEST(Percentile, NearestRank) {
  std::vector<int> v(100);
  for (int i = 0; i < 100; ++i) v[static_cast<std::size_t>(i)] = i + 1;
  EXPECT_EQ(nearest_rank<int>(v, 0.99), 99);
  EXPECT_EQ(nearest_rank<int>(v, 0.991), 100);
  EXPECT_EQ(nearest_rank<int>(v, 0.5), 50);
  EXPECT_EQ(nearest_rank<int>(v, 1.0), 100);
  EXPECT_EQ(nearest_rank<int>(std::vector<int>{5}, 0.001), 5);
}

TEST(Percentile, SamplesNeeded) {
  EXPECT_EQ(samples_needed(0.95), 72u);
  EXPECT_EQ(samples_needed(0.99), 368u);
  EXPECT_EQ(samples_needed(0.999), 3688u);
}

TEST(Text, Durations) {
  EXPECT_EQ(parse_duration("5ms").value(), 5ms);
  EXPECT_EQ(parse_duration("1.5s").value(), 1500ms);
  EXPECT_EQ(parse_duration("0").value(), 0ns);
  EXPECT_EQ(parse_duration("250ns").value(), 250ns);
  for (const char* bad : {"5", "", "ms", "-1ms", "5 ms", "5mss", "1e30s", "nan", "infs"}) {
    EXPECT_FALSE(parse_duration(bad).ok()) << bad;
  }
  EXPECT_EQ(format_duration(1'234'567ns), "1.23 ms");
  EXPECT_EQ(format_duration(12'345us), "12.3 ms");
  EXPECT_EQ(format_duration(0ns), "0 ns");
}

TEST(Text, SizesAndCounts) {
  EXPECT_EQ(parse_bytes("64MiB").value(), 64u << 20);
  EXPECT_EQ(parse_bytes("100").value(), 100u);
  EXPECT_FALSE(parse_bytes("64 MiB").ok());
  EXPECT_FALSE(parse_bytes("-1").ok());
  EXPECT_EQ(parse_count("8", 1, 8).value(), 8u);
  EXPECT_FALSE(parse_count("9", 1, 8).ok());
  EXPECT_FALSE(parse_count("8x", 1, 8).ok());
}

TEST(Text, NearestWord) {
  const std::vector<std::string_view> flags{"http-port", "grpc-port", "metrics-port"};
  EXPECT_EQ(nearest_word("htp-port", flags), "http-port");
  EXPECT_EQ(nearest_word("banana", flags), "");
}

TEST(JsonWriter, EscapesAndNests) {
  std::string out;
  JsonWriter json(out);
  json.begin_object().field("a\"b", "x\n\x01").key("n").begin_array();
  json.value(1).value(-2.5).value(true).null().value(1.0 / 0.0).end_array().end_object();
  EXPECT_TRUE(json.done());
  EXPECT_EQ(out, "{\"a\\\"b\":\"x\\n\\u0001\",\"n\":[1,-2.5,true,null,null]}");
}

}  // namespace
}  // namespace tauto
