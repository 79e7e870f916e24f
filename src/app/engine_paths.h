#pragma once
#include <string>
#include <vector>

namespace tauto::app {

/// Where libonnxruntime.so may lie: what `./dev setup` keeps in the user's cache. The engine looks
/// for the system's own after these.
std::vector<std::string> onnxruntime_candidates();

}  // namespace tauto::app
