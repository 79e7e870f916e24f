#pragma once
// A tensor that somebody else owns: type, shape and bytes, row-major, little-endian, no padding.

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>

#include "base/check.h"
#include "core/data_type.h"

namespace tauto {

/// Up to kRankMax dimensions, in place: a request's shapes allocate nothing.
class Shape {
 public:
  static constexpr std::size_t kRankMax = 8;

  Shape() = default;
  Shape(std::initializer_list<std::int64_t> dims) : Shape(std::span(dims.begin(), dims.size())) {}
  /// Requires: at most kRankMax dims (check with fits() on input).
  explicit Shape(std::span<const std::int64_t> dims) {
    for (const auto d : dims) push_back(d);
  }
  static bool fits(std::size_t rank) { return rank <= kRankMax; }

  void push_back(std::int64_t dim) {
    TAUTO_CHECK(rank_ < kRankMax);
    dims_[rank_++] = dim;
  }
  std::size_t rank() const { return rank_; }
  std::int64_t operator[](std::size_t i) const { return dims_[i]; }
  std::int64_t& operator[](std::size_t i) { return dims_[i]; }
  std::span<const std::int64_t> dims() const { return {dims_.data(), rank_}; }
  friend bool operator==(const Shape& a, const Shape& b) {
    if (a.rank_ != b.rank_) return false;
    for (std::size_t i = 0; i < a.rank_; ++i) {
      if (a.dims_[i] != b.dims_[i]) return false;
    }
    return true;
  }
  /// Product of the dims; nullopt when one is negative or the product does not fit an int64.
  /// A scalar (rank 0) has one element.
  std::optional<std::int64_t> element_count() const;
  /// "[2,-1,3]".
  std::string to_string() const;

 private:
  std::array<std::int64_t, kRankMax> dims_{};
  std::uint8_t rank_ = 0;
};

struct TensorView {
  DataType type = DataType::kInvalid;  // kInvalid marks an absent optional tensor
  Shape shape;
  std::span<const std::byte> bytes;  // borrowed
};

/// Name, type and dims of one input or output of a model; -1 is a dimension that each request
/// chooses. `dims` never include the batch dimension.
struct TensorSpec {
  std::string name;
  DataType type = DataType::kInvalid;
  Shape dims;
};

}  // namespace tauto
