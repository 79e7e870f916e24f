#pragma once
#include <cstdio>
#include <cstdlib>

/// Aborts with file, line and text when `cond` is false. Stays on in every build type: a wrong
/// scheduler is worse than a stopped one. For programmer errors only, never for input.
#define TAUTO_CHECK(cond)                                                           \
  do {                                                                              \
    if (!(cond)) [[unlikely]] {                                                     \
      std::fprintf(stderr, "%s:%d: check failed: %s\n", __FILE__, __LINE__, #cond); \
      std::abort();                                                                 \
    }                                                                               \
  } while (false)
