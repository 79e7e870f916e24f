#pragma once
#include <cstdint>

namespace tauto::engine::testing {

/// Calls of operator new in this program so far; allocations_test_util.cc replaces it.
std::uint64_t allocations();

}  // namespace tauto::engine::testing
