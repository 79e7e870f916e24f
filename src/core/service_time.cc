#include "core/service_time.h"

#include <algorithm>

#include "base/check.h"

namespace tauto {

ServiceTime ServiceTime::linear(Duration fixed, Duration per_row) {
  ServiceTime t;
  t.linear_ = true;
  t.fixed_ = fixed;
  t.per_row_ = per_row;
  return t;
}

void ServiceTime::set(ServicePoint point) {
  TAUTO_CHECK(point.rows >= 1);
  const auto at =
      std::lower_bound(points_.begin(), points_.end(), point.rows,
                       [](const ServicePoint& p, std::uint32_t rows) { return p.rows < rows; });
  if (at != points_.end() && at->rows == point.rows) {
    *at = point;
  } else {
    points_.insert(at, point);
  }
}

bool ServiceTime::measured(std::uint32_t rows) const {
  if (linear_) return true;
  return std::any_of(points_.begin(), points_.end(),
                     [rows](const ServicePoint& p) { return p.rows == rows; });
}

Duration ServiceTime::at(std::uint32_t rows, Duration ServicePoint::*field) const {
  TAUTO_CHECK(rows >= 1);
  if (linear_) return fixed_ + per_row_ * static_cast<std::int64_t>(rows);
  if (points_.empty()) return Duration::zero();
  Duration left_value{};
  std::uint32_t left_rows = 0;
  for (const auto& p : points_) {
    const Duration value = std::max(p.*field, left_value);
    if (rows <= p.rows) {
      // Below the smallest measured size its time is the safe answer; between two sizes, a line.
      if (left_rows == 0 || rows == p.rows) return value;
      const std::int64_t span = p.rows - left_rows;
      return left_value + (value - left_value) * static_cast<std::int64_t>(rows - left_rows) / span;
    }
    left_value = value;
    left_rows = p.rows;
  }
  return Duration{left_value.count() / left_rows * rows +
                  left_value.count() % left_rows * rows / left_rows};
}

}  // namespace tauto
