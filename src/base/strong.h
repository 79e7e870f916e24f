#pragma once
#include <compare>
#include <cstdint>

namespace tauto {

/// A value that is its own type: no implicit conversion in or out, ordering and equality only.
template <class Tag, class Rep = std::uint64_t>
struct Strong {
  Rep value{};
  constexpr Strong() = default;
  constexpr explicit Strong(Rep v) : value(v) {}
  friend constexpr auto operator<=>(const Strong&, const Strong&) = default;
};

}  // namespace tauto
