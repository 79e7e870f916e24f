// The price of remembering: one request's stages into the histograms.

#include <benchmark/benchmark.h>

#include <cstdint>

#include "journey/histograms.h"

namespace tauto::journey {
namespace {

void record(benchmark::State& state) {
  StageRecorder recorder(1);
  Split split{};
  std::int64_t length = 1;
  for (auto _ : state) {
    length = length * 5 % 1'000'003;
    for (auto& stage : split) stage = Duration{length};
    recorder.record(0, Outcome::kServed, split);
  }
}
BENCHMARK(record);

}  // namespace
}  // namespace tauto::journey

BENCHMARK_MAIN();
