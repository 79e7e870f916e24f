#pragma once
// From raw samples to the figures of a report. Pure: the same samples give the same figures.

#include "lab/load_generator.h"
#include "report/bench_result.h"

namespace tauto::lab {

/// Percentiles by nearest rank on raw values; sorts `values_ns`.
report::Distribution distribution_of(std::vector<std::int64_t>& values_ns);

/// Fills everything of `result` that comes from the samples. Before: `result.config` and, when
/// asked for, `result.objective`. Only requests whose intended start lies in the measured time
/// count.
void summarise(const LoadLog& log, report::BenchResult& result);

/// Sets rate_kept and rate_reason by the rule: the client did not keep the rate when the lag's P99
/// is above 5 % of the latency's P50, or when less than 99 % of the plan was sent. After
/// summarise().
void judge_rate(const LoadLog& log, report::BenchResult& result);

}  // namespace tauto::lab
