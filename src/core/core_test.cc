// The words: types, shapes with hostile dims, l(b) by table, arrival schedules by seed.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/arrivals.h"
#include "core/buffer.h"
#include "core/data_type.h"
#include "core/service_time.h"
#include "core/tensor.h"

namespace tauto {
namespace {

using namespace std::chrono_literals;

TEST(DataType, NamesRoundTrip) {
  for (std::size_t i = 1; i < kDataTypeCount; ++i) {
    const auto type = static_cast<DataType>(i);
    EXPECT_EQ(data_type_from_protocol(protocol_name(type)), type);
  }
  EXPECT_EQ(byte_size(DataType::kFp32), 4u);
  EXPECT_EQ(byte_size(DataType::kBytes), 0u);
  EXPECT_FALSE(data_type_from_protocol("<invalid>").has_value());
  EXPECT_FALSE(data_type_from_protocol("fp32").has_value());
}

TEST(Shape, ElementCountNeverOverflows) {
  constexpr auto kHuge = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(Shape{}.element_count(), 1);
  EXPECT_EQ((Shape{2, 3}).element_count(), 6);
  EXPECT_EQ((Shape{kHuge, 2}).element_count(), std::nullopt);
  EXPECT_EQ((Shape{kHuge, 2, 0}).element_count(), 0);
  EXPECT_EQ((Shape{0, -1}).element_count(), std::nullopt);
  EXPECT_EQ((Shape{-1}).element_count(), std::nullopt);
  EXPECT_EQ((Shape{2, -1}).to_string(), "[2,-1]");
  EXPECT_FALSE((Shape{1}) == (Shape{1, 1}));
}

TEST(ServiceTime, InterpolatesAndStaysMonotone) {
  ServiceTime t;
  EXPECT_FALSE(t.known());
  EXPECT_EQ(t.mean(4), 0ns);
  t.set({4, 40us, 44us});
  t.set({1, 10us, 12us});
  t.set({8, 30us, 90us});  // measured faster than 4 rows: noise, raised when read
  EXPECT_EQ(t.mean(1), 10us);
  EXPECT_EQ(t.mean(2), 20us);
  EXPECT_EQ(t.mean(8), 40us);
  EXPECT_EQ(t.high(6), 67us);
  EXPECT_EQ(t.mean(16), 80us);
  EXPECT_TRUE(t.measured(4));
  EXPECT_FALSE(t.measured(3));
  EXPECT_EQ(ServiceTime::linear(100us, 5us).high(3), 115us);
}

TEST(ServiceTime, IsMonotoneOverRandomTables) {
  SplitMix64 random(3);
  for (int round = 0; round < 200; ++round) {
    ServiceTime t;
    for (int i = 0; i < 6; ++i) {
      const auto rows = static_cast<std::uint32_t>(1 + random.next() % 64);
      const Duration mean{static_cast<std::int64_t>(random.next() % 1'000'000)};
      t.set({rows, mean, mean * 2});
    }
    for (std::uint32_t b = 1; b < 80; ++b) {
      ASSERT_LE(t.mean(b), t.mean(b + 1));
      ASSERT_LE(t.mean(b), t.high(b));
    }
  }
}

TEST(Arrivals, ConstantIsExactAndPoissonHasItsMeanAndSpread) {
  const auto even = make_arrivals({ArrivalKind::kConstant, 100'000, 1s, 1});
  ASSERT_EQ(even.size(), 100u);
  EXPECT_EQ(even[10], 100ms);
  const auto poisson = make_arrivals({ArrivalKind::kPoisson, 1'000'000, 100s, 5});
  const auto n = static_cast<double>(poisson.size());
  EXPECT_NEAR(n, 100'000, 4 * std::sqrt(100'000.0));
  double sum_squares = 0;
  for (std::size_t i = 1; i < poisson.size(); ++i) {
    ASSERT_LE(poisson[i - 1], poisson[i]);
    const double gap = to_s(poisson[i] - poisson[i - 1]) * 1000;
    sum_squares += (gap - 1) * (gap - 1);
  }
  EXPECT_NEAR(sum_squares / n, 1.0, 0.05);  // an exponential's variance is its mean squared
  EXPECT_EQ(poisson, make_arrivals({ArrivalKind::kPoisson, 1'000'000, 100s, 5}));
  EXPECT_NE(poisson, make_arrivals({ArrivalKind::kPoisson, 1'000'000, 100s, 6}));
}

TEST(AlignedBuffer, GrowsAligned) {
  AlignedBuffer buffer;
  EXPECT_EQ(buffer.capacity(), 0u);
  for (const std::size_t bytes : {1u, 63u, 65u, 10'000u}) {
    const auto* p = buffer.reserve(bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(p) % AlignedBuffer::kAlignment, 0u);
    EXPECT_GE(buffer.capacity(), bytes);
  }
  const auto* before = buffer.data();
  EXPECT_EQ(buffer.reserve(5), before);
}

}  // namespace
}  // namespace tauto
