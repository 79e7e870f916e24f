#pragma once
// The one definition of a percentile in this house: nearest rank on raw samples. A percentile that
// the samples cannot support is not given; the reader learns how many would be needed.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/check.h"

namespace tauto {

/// Samples needed so that the order statistic above P(q) exists with 95 % confidence:
/// n >= ln(0.025) / ln(q) (Hahn and Meeker). P50 6, P90 36, P95 72, P99 368, P99.9 3,688.
inline std::size_t samples_needed(double q) {
  TAUTO_CHECK(q > 0 && q < 1);
  return static_cast<std::size_t>(std::ceil(std::log(0.025) / std::log(q)));
}

/// Nearest rank: the ceil(q*n)-th smallest. Requires: `sorted` ascending and not empty, q in (0,
/// 1].
template <class T>
T nearest_rank(std::span<const T> sorted, double q) {
  TAUTO_CHECK(!sorted.empty() && q > 0 && q <= 1);
  // The tiny slack keeps 0.99 * 100 from becoming rank 100 by rounding up an inexact product.
  const double exact = q * static_cast<double>(sorted.size());
  const auto rank = static_cast<std::size_t>(std::ceil(exact - 1e-9 * exact));
  return sorted[(rank == 0 ? 1 : rank) - 1];
}

}  // namespace tauto
