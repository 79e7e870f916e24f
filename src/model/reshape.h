#pragma once
// Config `reshape`: clients see one shape, the engine another with the same elements.

#include "core/tensor.h"

namespace tauto::model {

/// `actual` fits `from` (both without the batch dimension); the answer is `to` with its free
/// dimensions filled in the order of from's. Works both ways: (dims -> reshape) for inputs,
/// (reshape -> dims) for outputs. Requires: as many free dimensions in `from` as in `to`.
inline Shape reshape(const Shape& actual, const Shape& from, const Shape& to) {
  TAUTO_CHECK(actual.rank() == from.rank());
  Shape out;
  std::size_t next = 0;
  for (const auto dim : to.dims()) {
    if (dim >= 0) {
      out.push_back(dim);
      continue;
    }
    while (next < from.rank() && from[next] >= 0) ++next;
    TAUTO_CHECK(next < from.rank());
    out.push_back(actual[next++]);
  }
  return out;
}

}  // namespace tauto::model
