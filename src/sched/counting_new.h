#pragma once
// Replaces operator new in a test program, to count. For tests only; one thread.

#include <cstddef>

namespace tauto::sched {

/// Calls of operator new since the program began.
std::size_t allocation_count();

}  // namespace tauto::sched
