#include "journey/labels.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>

namespace tauto::journey {
namespace {

LabelTable::Options options(std::vector<std::string> names, std::size_t values_max) {
  LabelTable::Options o;
  o.names = std::move(names);
  o.values_max = values_max;
  o.value_length_max = 8;
  o.shards = 2;
  return o;
}

TEST(LabelTable, CountsByValue) {
  LabelTable table(options({"tenant", "route"}, 3));
  const auto a = table.find("tenant", "a");
  const auto same = table.find("tenant", "a");
  const auto elsewhere = table.find("route", "a");
  ASSERT_TRUE(a && same && elsewhere);
  EXPECT_EQ(a->value, same->value);
  EXPECT_NE(a->value, elsewhere->value);
  table.record(0, *a, Outcome::kServed, Duration(100));
  table.record(1, *a, Outcome::kServed, Duration(300));
  table.record(1, *a, Outcome::kShed, Duration(7));
  table.record(0, *elsewhere, Outcome::kExpired, Duration(9));
  const auto labels = table.snapshot();
  ASSERT_EQ(labels.size(), 2u);
  EXPECT_EQ(labels[0].name, "tenant");
  EXPECT_EQ(labels[0].value, "a");
  EXPECT_EQ(labels[0].total.count(), 2u);
  EXPECT_EQ(labels[0].total.sum(), 400u);
  EXPECT_EQ(labels[0].outcomes[static_cast<std::size_t>(Outcome::kServed)], 2u);
  EXPECT_EQ(labels[0].outcomes[static_cast<std::size_t>(Outcome::kShed)], 1u);
  EXPECT_EQ(labels[1].name, "route");
  EXPECT_EQ(labels[1].total.count(), 0u);
}

TEST(LabelTable, NamesAreAllowListed) {
  LabelTable table(options({"tenant"}, 3));
  EXPECT_EQ(table.find("user", "a"), std::nullopt);
  EXPECT_EQ(table.find("", "a"), std::nullopt);
  EXPECT_EQ(LabelTable(options({}, 3)).find("tenant", "a"), std::nullopt);
}

TEST(LabelTable, ValuesBeyondTheBoundAreOther) {
  LabelTable table(options({"tenant", "route"}, 3));
  for (int i = 0; i < 100; ++i) {
    const auto index = table.find("tenant", "v" + std::to_string(i));
    ASSERT_TRUE(index.has_value());
    table.record(0, *index, Outcome::kServed, Duration(1));
  }
  table.record(0, *table.find("tenant", "v1"), Outcome::kServed, Duration(1));  // kept its place
  table.record(0, *table.find("route", "too long a value"), Outcome::kServed, Duration(1));
  table.record(0, *table.find("route", "other"), Outcome::kServed, Duration(1));
  const auto labels = table.snapshot();
  ASSERT_EQ(labels.size(), 5u);
  EXPECT_EQ(labels[0].value, "v0");
  EXPECT_EQ(labels[1].value, "v1");
  EXPECT_EQ(labels[1].total.count(), 2u);
  EXPECT_EQ(labels[2].value, "v2");
  EXPECT_EQ(labels[3].value, "other");
  EXPECT_EQ(labels[3].total.count(), 97u);
  EXPECT_EQ(labels[4].name, "route");
  EXPECT_EQ(labels[4].value, "other");
  EXPECT_EQ(labels[4].total.count(), 2u);
}

TEST(LabelTable, NoValuesAllowedMeansOtherOnly) {
  LabelTable table(options({"tenant"}, 0));
  table.record(0, *table.find("tenant", "a"), Outcome::kServed, Duration(1));
  ASSERT_EQ(table.snapshot().size(), 1u);
  EXPECT_EQ(table.snapshot()[0].value, "other");
}

TEST(LabelTable, ThreadsOnTheirShardsAndAReader) {
  LabelTable table(options({"tenant"}, 4));
  std::atomic<int> running{2};
  std::vector<std::jthread> threads;
  for (std::size_t shard = 0; shard < 2; ++shard) {
    threads.emplace_back([&table, &running, shard] {
      for (int i = 0; i < 3000; ++i) {
        const auto index = table.find("tenant", std::to_string(i % 7));
        table.record(shard, *index, Outcome::kServed, Duration(i));
      }
      running.fetch_sub(1);
    });
  }
  while (running.load() != 0) (void)table.snapshot();
  threads.clear();
  std::uint64_t count = 0;
  for (const auto& label : table.snapshot()) count += label.total.count();
  EXPECT_EQ(count, 6000u);
  EXPECT_EQ(table.snapshot().size(), 5u);
}

}  // namespace
}  // namespace tauto::journey
