#pragma once
// ONNX models by ONNX Runtime, on the CPU. The library is opened at run time, at the first load, so
// that one binary takes any build of it from 1.21 on; it is never closed.

#include <memory>
#include <string>
#include <vector>

#include "base/time.h"
#include "engine/engine.h"

namespace tauto::engine {

struct OnnxOptions {
  std::string library_path = "";             // this one and no other; "" = search
  std::vector<std::string> candidates = {};  // tried in order, then the name `libonnxruntime.so.1`
  int global_threads = 0;  // > 0: one pool of so many for all models whose config sets no counts
};

/// `time` outlives the engine. Fails never: a missing or too old library, or a build without its
/// headers, is a kUnavailable error of load(), in one line that says what to do.
/// Threads: load() any. Parameters honoured: see onnx_parameters.h.
std::unique_ptr<Engine> make_onnx_engine(OnnxOptions options, const TimeSource& time);

}  // namespace tauto::engine
