#pragma once
// ONNX Runtime's C API, opened at run time. Inner header of engine/onnx. The C API rather than the
// C++ one: that keeps its function table in a global and throws; here the table is handed around
// and every status becomes an Error.

#include <onnxruntime_c_api.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/data_type.h"
#include "engine/onnx/onnx_engine.h"

namespace tauto::engine::onnx {

template <class T>
using OrtPtr = std::unique_ptr<T, void (*)(T*)>;

/// The opened library and its environment. Threads: any. Lives until the last model is gone; the
/// library itself stays open for the life of the process.
struct Library {
  const OrtApi& api;
  OrtPtr<OrtEnv> env;
  std::string version;
  std::string path;  // as given to dlopen
  bool global_threads;
};

/// Errors: kUnavailable, one line that says what to do.
Result<std::shared_ptr<const Library>> open_library(const OnnxOptions& options);

/// Frees `status`. Codes: what ONNX Runtime says is the caller's fault is kInvalidArgument.
Status check(const OrtApi& api, OrtStatus* status);

/// nullopt for types that the protocol does not have (complex, float8, int4, ...).
std::optional<DataType> from_onnx(ONNXTensorElementDataType type);
ONNXTensorElementDataType to_onnx(DataType type);

/// Calls a C function whose last argument receives a new object; the object frees itself.
///   TAUTO_ASSIGN_OR_RETURN(auto o, make<OrtSessionOptions>(api, api.ReleaseSessionOptions,
///                                                          api.CreateSessionOptions));
template <class T, class Release, class F, class... Args>
Result<OrtPtr<T>> make(const OrtApi& api, Release release, F function, Args... args) {
  T* object = nullptr;
  TAUTO_RETURN_IF_ERROR(check(api, function(args..., &object)));
  return OrtPtr<T>(object, release);
}

}  // namespace tauto::engine::onnx
