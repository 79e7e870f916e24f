#include <dlfcn.h>

#include <algorithm>

#include "engine/onnx/ort.h"

namespace tauto::engine::onnx {
namespace {

constexpr const char* kSoname = "libonnxruntime.so.1";
constexpr const char* kAdvice =
    "run `./dev setup`, or name the library: --onnxruntime-library PATH";

using GetApiBase = const OrtApiBase* (*)();

struct Found {
  const OrtApi* api;
  std::string version;
  std::string path;
};

/// Error: why this path does not serve, without advice. The handle is never closed: ONNX Runtime
/// does not survive it.
Result<Found> try_path(const std::string& path) {
  void* const handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* why = ::dlerror();  // "PATH: cannot open shared object file: ..."
    std::string message = why != nullptr ? why : "cannot be opened";
    if (!message.starts_with(path)) message = path + ": " + message;
    return Error{Code::kUnavailable, message};
  }
  const auto base = reinterpret_cast<GetApiBase>(::dlsym(handle, "OrtGetApiBase"));
  const OrtApiBase* const entry = base == nullptr ? nullptr : base();
  if (entry == nullptr) return Error{Code::kUnavailable, path + " is not ONNX Runtime"};
  const char* const version = entry->GetVersionString();
  const OrtApi* const api = entry->GetApi(ORT_API_VERSION);
  if (api == nullptr) {
    return Error{Code::kUnavailable, path + " is ONNX Runtime " + version + ", too old: 1." +
                                         std::to_string(ORT_API_VERSION) + " or newer is needed"};
  }
  return Found{api, version, path};
}

Result<Found> find(const OnnxOptions& options) {
  std::vector<std::string> paths{options.library_path};
  if (options.library_path.empty()) {
    paths = options.candidates;
    paths.emplace_back(kSoname);
  }
  std::string reasons;
  for (const auto& path : paths) {
    auto found = try_path(path);
    if (found.ok()) return found;
    reasons += (reasons.empty() ? "" : "; ") + found.error().message;
  }
  return Error{Code::kUnavailable, "no usable ONNX Runtime (" + reasons + "): " + kAdvice};
}

/// All errors come back as values, so the library's own log stays silent but for fatal ones.
Result<OrtPtr<OrtEnv>> make_env(const OrtApi& api, int global_threads) {
  constexpr auto kLevel = ORT_LOGGING_LEVEL_FATAL;
  if (global_threads <= 0) {
    return make<OrtEnv>(api, api.ReleaseEnv, api.CreateEnv, kLevel, "tauto");
  }
  TAUTO_ASSIGN_OR_RETURN(
      const auto threads,
      make<OrtThreadingOptions>(api, api.ReleaseThreadingOptions, api.CreateThreadingOptions));
  TAUTO_RETURN_IF_ERROR(check(api, api.SetGlobalIntraOpNumThreads(threads.get(), global_threads)));
  TAUTO_RETURN_IF_ERROR(check(api, api.SetGlobalInterOpNumThreads(threads.get(), 1)));
  TAUTO_RETURN_IF_ERROR(check(api, api.SetGlobalSpinControl(threads.get(), 0)));
  return make<OrtEnv>(api, api.ReleaseEnv, api.CreateEnvWithGlobalThreadPools, kLevel, "tauto",
                      threads.get());
}

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

Code code_of(OrtErrorCode code) {
  switch (code) {
    case ORT_INVALID_ARGUMENT:
    case ORT_NO_MODEL:
    case ORT_INVALID_PROTOBUF:
    case ORT_INVALID_GRAPH:
      return Code::kInvalidArgument;
    case ORT_NO_SUCHFILE:
      return Code::kNotFound;
    case ORT_NOT_IMPLEMENTED:
      return Code::kUnimplemented;
    default:
      return Code::kInternal;
  }
}

}  // namespace

Result<std::shared_ptr<const Library>> open_library(const OnnxOptions& options) {
  TAUTO_ASSIGN_OR_RETURN(auto found, find(options));
  TAUTO_ASSIGN_OR_RETURN(auto env, make_env(*found.api, options.global_threads));
  return std::shared_ptr<const Library>(
      std::make_shared<Library>(Library{*found.api, std::move(env), std::move(found.version),
                                        std::move(found.path), options.global_threads > 0}));
}

Status check(const OrtApi& api, OrtStatus* status) {
  if (status == nullptr) return Unit{};
  Error error{code_of(api.GetErrorCode(status)), one_line(api.GetErrorMessage(status))};
  api.ReleaseStatus(status);
  return error;
}

namespace {

struct TypePair {
  DataType ours;
  ONNXTensorElementDataType theirs;
};
constexpr TypePair kTypes[] = {{DataType::kBool, ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL},
                               {DataType::kUint8, ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8},
                               {DataType::kUint16, ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16},
                               {DataType::kUint32, ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32},
                               {DataType::kUint64, ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64},
                               {DataType::kInt8, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8},
                               {DataType::kInt16, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16},
                               {DataType::kInt32, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32},
                               {DataType::kInt64, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64},
                               {DataType::kFp16, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16},
                               {DataType::kFp32, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT},
                               {DataType::kFp64, ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE},
                               {DataType::kBytes, ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING},
                               {DataType::kBf16, ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16}};

}  // namespace

std::optional<DataType> from_onnx(ONNXTensorElementDataType type) {
  for (const auto& pair : kTypes) {
    if (pair.theirs == type) return pair.ours;
  }
  return std::nullopt;
}

ONNXTensorElementDataType to_onnx(DataType type) {
  for (const auto& pair : kTypes) {
    if (pair.ours == type) return pair.theirs;
  }
  return ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
}

}  // namespace tauto::engine::onnx
