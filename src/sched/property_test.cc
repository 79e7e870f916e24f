// Random histories by seed. TAUTO_SEED=n replays one seed alone, TAUTO_SEEDS=n sets how many run.

#include "sched/property.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace tauto::sched {
namespace {

std::uint64_t environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

TEST(Property, HoldsForEverySeed) {
  std::uint64_t first = 1;
  std::uint64_t count = environment("TAUTO_SEEDS", 150);
  if (const std::uint64_t only = environment("TAUTO_SEED", 0); only != 0) {
    first = only;
    count = 1;
  }
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    ASSERT_EQ(check_seed(seed), "") << "TAUTO_SEED=" << seed << " replays it";
  }
}

}  // namespace
}  // namespace tauto::sched
