// sched_seeds FIRST COUNT: the property test as a program, for long runs.

#include <cinttypes>
#include <cstdio>
#include <cstdlib>

#include "sched/property.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: sched_seeds FIRST COUNT\n");
    return 2;
  }
  const std::uint64_t first = std::strtoull(argv[1], nullptr, 10);
  const std::uint64_t count = std::strtoull(argv[2], nullptr, 10);
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const std::string wrong = tauto::sched::check_seed(seed);
    if (wrong.empty()) continue;
    std::printf("seed %" PRIu64 ": %s\n", seed, wrong.c_str());
    std::printf("replay: TAUTO_SEED=%" PRIu64 " sched_tests --gtest_filter='Property.*'\n", seed);
    return 1;
  }
  std::printf("%" PRIu64 " seeds from %" PRIu64 ": every property held\n", count, first);
  return 0;
}
