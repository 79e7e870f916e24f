#pragma once
// What --slo means: "p99<30ms" is an objective that holds or fails, "30ms" only a line to count by.

#include <string_view>

#include "base/result.h"
#include "report/bench_result.h"

namespace tauto::lab {

/// Errors: kInvalidArgument, saying how an objective is written.
Result<report::Objective> parse_objective(std::string_view text);

/// Decides by nearest rank over all `planned` requests, a request without a good reply being slower
/// than any limit: holds when at least `share` of them came `within` the limit. Fewer requests than
/// samples_needed(share) decide nothing, unless so many are late already that it cannot hold.
void judge(report::Objective& objective, std::uint64_t planned, std::uint64_t within);

}  // namespace tauto::lab
