#pragma once
// A run as JSON: everything that was asked, sent, measured and concluded. Durations are integers in
// nanoseconds ("..._ns"); what is not known is null. Pure.

#include <string>

#include "report/bench_result.h"

namespace tauto::report {

/// One JSON object and a newline. "format" names the layout; it changes when a field changes
/// meaning.
std::string bench_json(const BenchResult& result);

}  // namespace tauto::report
