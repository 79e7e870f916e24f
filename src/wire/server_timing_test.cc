#include "wire/server_timing.h"

#include <gtest/gtest.h>

#include <random>

namespace tauto::wire {
namespace {

std::string written(std::vector<Timing> timings) {
  std::string out;
  append_server_timing(timings, out);
  return out;
}

TEST(ServerTiming, MillisecondsWithoutTrailingZeros) {
  EXPECT_EQ(
      written(
          {{"receive", Duration(21'000)}, {"hold", Duration(0)}, {"total", Duration(9'700'000)}}),
      "receive;dur=0.021, hold;dur=0, total;dur=9.7");
  EXPECT_EQ(written({{"a", Duration(499)}, {"b", Duration(500)}, {"c", Duration(1'234'567'000)}}),
            "a;dur=0, b;dur=0.001, c;dur=1234.567");
  EXPECT_EQ(
      written({{"a", Duration(1'000'000)}, {"b", Duration(10'000)}, {"c", Duration(999'999'600)}}),
      "a;dur=1, b;dur=0.01, c;dur=1000");
  EXPECT_EQ(written({}), "");
}

TEST(ServerTiming, RoundTrip) {
  std::mt19937_64 random(11);
  for (int i = 0; i < 20'000; ++i) {
    const Duration us{static_cast<std::int64_t>(random() >> (25 + random() % 39)) * 1000};
    const std::string text = written({{"parse", us}, {"total", us * 2}});
    std::vector<Timing> back;
    ASSERT_TRUE(parse_server_timing(text, back).ok()) << text;
    ASSERT_EQ(back.size(), 2u);
    ASSERT_EQ(back[0].name, "parse");
    ASSERT_EQ(back[0].duration, us) << text;
    ASSERT_EQ(back[1].duration, us * 2) << text;
  }
}

TEST(ServerTiming, ReadsWhatOthersWrite) {
  std::vector<Timing> back;
  ASSERT_TRUE(parse_server_timing(
                  R"(miss, db;dur=53.2;desc="a, b;dur=\"9", ,cache ; desc=x ;dur = "23.25" , )"
                  R"(app;DUR;dur=1e1)",
                  back)
                  .ok());
  ASSERT_EQ(back.size(), 3u);
  EXPECT_EQ(back[0].name, "db");
  EXPECT_EQ(back[0].duration, Duration(53'200'000));
  EXPECT_EQ(back[1].name, "cache");
  EXPECT_EQ(back[1].duration, Duration(23'250'000));
  EXPECT_EQ(back[2].name, "app");
  EXPECT_EQ(back[2].duration, Duration(10'000'000));
  back.clear();
  EXPECT_TRUE(parse_server_timing("", back).ok());
  EXPECT_TRUE(parse_server_timing("  ,, ", back).ok());
  EXPECT_TRUE(back.empty());
}

TEST(ServerTiming, RefusesTheRestAndLeavesTheListAlone) {
  for (const auto* text : {"a;dur=-1", "a;dur=x", "a;dur=", "a;dur=1x", "=", "a;;dur=1", "a b",
                           "a;dur=1 2", "a;desc=\"x", "a;dur=nan", "a;dur=1e300", "a;dur=inf"}) {
    std::vector<Timing> back{{"kept", Duration(1)}};
    EXPECT_FALSE(parse_server_timing(std::string("first;dur=1, ") + text, back).ok()) << text;
    EXPECT_EQ(back.size(), 1u) << text;
  }
}

}  // namespace
}  // namespace tauto::wire
