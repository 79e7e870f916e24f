#include "app/engine_paths.h"

#include <cstdlib>

namespace tauto::app {

std::vector<std::string> onnxruntime_candidates() {
  std::string cache;
  if (const char* xdg = std::getenv("XDG_CACHE_HOME"); xdg != nullptr && *xdg != '\0') {
    cache = xdg;
  } else if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0') {
    cache = std::string(home) + "/.cache";
  }
  if (cache.empty()) return {};
  return {cache + "/tautochrone/onnxruntime/lib/libonnxruntime.so.1"};
}

}  // namespace tauto::app
