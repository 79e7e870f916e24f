#pragma once
// l(b): how long one batch of b rows takes, measured at some row counts and interpolated between
// them. Integers only, so that a schedule is the same in every build.

#include <cstdint>
#include <vector>

#include "base/time.h"

namespace tauto {

/// One measured size. `mean` prices a batch, `high` (P95) decides whether a deadline can be kept.
struct ServicePoint {
  std::uint32_t rows;  // >= 1
  Duration mean;       // >= 0
  Duration high;       // >= mean
};

/// A table by row count, or fixed + per_row * b when made from a formula.
class ServiceTime {
 public:
  ServiceTime() = default;
  /// `fixed` + `per_row` * rows, exactly known: mean and high agree.
  static ServiceTime linear(Duration fixed, Duration per_row);

  /// Adds or replaces one measured size. Values that would make l(b) fall as b grows are raised to
  /// their left neighbour when read: l is monotone by definition.
  void set(ServicePoint point);

  bool known() const { return linear_ || !points_.empty(); }
  /// True when `rows` itself was measured (or the formula is exact).
  bool measured(std::uint32_t rows) const;
  /// Interpolated between measured sizes, extrapolated in proportion beyond the largest. Zero when
  /// nothing is known. Requires: rows >= 1.
  Duration mean(std::uint32_t rows) const { return at(rows, &ServicePoint::mean); }
  Duration high(std::uint32_t rows) const { return at(rows, &ServicePoint::high); }
  const std::vector<ServicePoint>& points() const { return points_; }

 private:
  Duration at(std::uint32_t rows, Duration ServicePoint::*field) const;

  std::vector<ServicePoint> points_;  // ascending by rows
  bool linear_ = false;
  Duration fixed_{};
  Duration per_row_{};
};

}  // namespace tauto
