#pragma once
// Measures l(b), the time of one batch of b rows, by running batches: 1, 2, 4, ... rows. Running a
// size also warms it: arenas grow, kernels are chosen, pages are touched.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "core/service_time.h"
#include "engine/engine.h"

namespace tauto::engine {

/// Makes a batch of exactly `rows` rows; it stays valid until the next call.
using BatchMaker = std::function<Result<Batch>(std::uint32_t rows)>;

struct ProfilePlan {
  std::uint32_t rows_max = 1;                 // 0 counts as 1: a model without batch dimension
  Duration budget = std::chrono::seconds(3);  // no size is begun that would likely exceed it
  std::uint32_t runs_min = 3;                 // timed runs a size, after one that only warms it
  std::uint32_t runs_max = 32;
  bool stop_when_flat = true;  // no larger sizes once l(b)/b has stopped falling
};

struct ServiceProfile {
  ServiceTime service_time;       // mean = median of the runs, high = nearest-rank P95
  Duration first_run{};           // the very first batch, one row: what a cold instance costs
  std::uint32_t rows_warmed = 0;  // largest size measured; it and smaller ones are warm
  std::uint32_t rows_best = 1;    // measured size with the least l(b)/b
  bool batching_pays = false;     // l(b)/b at rows_best is a tenth or more below l(1)
  std::string stopped;            // why sizes up to rows_max are missing; "" = none is
};

/// Blocks for about `plan.budget`, or for runs_min + 1 batches of one row if that takes longer.
/// Errors: of the maker or the engine with one row; with more rows they only end the measurement.
Result<ServiceProfile> measure_service_time(Instance& instance, const BatchMaker& make,
                                            const ProfilePlan& plan, const TimeSource& time);

}  // namespace tauto::engine
