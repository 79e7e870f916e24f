#include "engine/allocations_test_util.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {
std::atomic<std::uint64_t> count{0};
}

void* operator new(std::size_t bytes) {
  ++count;
  if (void* p = std::malloc(bytes)) return p;
  throw std::bad_alloc();
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }

namespace tauto::engine::testing {

std::uint64_t allocations() { return count; }

}  // namespace tauto::engine::testing
