#include "core/tensor.h"

namespace tauto {

std::optional<std::int64_t> Shape::element_count() const {
  bool zero = false;
  for (const auto d : dims()) {
    if (d < 0) return std::nullopt;
    zero = zero || d == 0;
  }
  if (zero) return 0;
  std::int64_t count = 1;
  for (const auto d : dims()) {
    if (__builtin_mul_overflow(count, d, &count)) return std::nullopt;
  }
  return count;
}

std::string Shape::to_string() const {
  std::string out = "[";
  for (std::size_t i = 0; i < rank_; ++i) {
    if (i > 0) out += ',';
    out += std::to_string(dims_[i]);
  }
  return out + "]";
}

}  // namespace tauto
