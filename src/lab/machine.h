#pragma once
#include "report/bench_result.h"

namespace tauto::lab {

/// Where a measurement was made. Reads /proc and asks the kernel; what cannot be read stays empty.
report::Machine describe_machine();

/// CPUs that this thread may use.
std::uint32_t usable_cpus();

}  // namespace tauto::lab
