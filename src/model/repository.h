#pragma once
// What lies in model repositories, before anything is loaded: `<repo>/<model>/{config.pbtxt?,
// <version>/model.onnx}`. A broken model keeps its place in the list with the reason.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/config_document.h"

namespace tauto::model {

/// As the repository index names them.
enum class ModelState { kUnknown, kReady, kUnavailable, kLoading, kUnloading };
std::string_view state_name(ModelState state);  // "READY"

struct VersionSource {
  std::int64_t version = 1;
  std::string path;  // the version's directory, or the model file itself (single-file models)
};

struct ModelSource {
  std::string name;
  std::string repository;                  // as given by the caller
  std::string directory;                   // of the model; where labels and warmup/ are looked up
  std::optional<ConfigDocument> document;  // absent when `problem` says why
  std::vector<VersionSource> versions;     // chosen by the version policy, ascending
  std::string problem;                     // why it cannot be loaded; "" = it can be tried
  std::vector<std::string> warnings;       // e.g. ignored directories; one line each
};

/// Scans in the given order; models sorted by name. A path may be a repository or one `.onnx` file
/// (the model is named by its stem, version 1). A name found twice is unavailable.
/// Errors: kNotFound when a path does not exist or cannot be read, naming it. An empty repository
/// is no error here. Blocks on the file system.
Result<std::vector<ModelSource>> scan_repositories(std::span<const std::string> paths);

}  // namespace tauto::model
