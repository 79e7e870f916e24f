#pragma once
#include <string_view>

namespace tauto::serve {

inline constexpr std::string_view kVersion = "0.1.0";

}  // namespace tauto::serve
