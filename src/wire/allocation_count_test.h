#pragma once

#include <cstddef>

namespace tauto::wire::testing {

/// How often this test program has called operator new. malloc and aligned_alloc do not count.
std::size_t allocation_count();

}  // namespace tauto::wire::testing
