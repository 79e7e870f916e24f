#include "model/repository.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <map>

#include "model/files.h"

namespace tauto::model {
namespace {

namespace fs = std::filesystem;

/// Directories of a model that are no versions and need no warning.
constexpr std::array<std::string_view, 3> kOtherDirectories = {"configs", "warmup",
                                                               "initial_state"};

/// Triton's rule: digits only, not starting with 0.
std::optional<std::int64_t> version_from(std::string_view name) {
  std::int64_t out = 0;
  const auto [end, problem] = std::from_chars(name.data(), name.data() + name.size(), out);
  if (problem != std::errc() || end != name.data() + name.size()) return std::nullopt;
  if (name[0] < '1' || name[0] > '9') return std::nullopt;
  return out;
}

std::vector<std::string> directories_in(const fs::path& path, std::error_code& ec) {
  std::vector<std::string> out;
  for (fs::directory_iterator it(path, ec), end; !ec && it != end; it.increment(ec)) {
    std::error_code inner;
    const auto name = it->path().filename().string();
    if (it->is_directory(inner) && !name.starts_with('.')) out.push_back(name);
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<VersionSource> versions_in(ModelSource& model) {
  std::vector<VersionSource> out;
  std::error_code ec;
  for (const auto& name : directories_in(model.directory, ec)) {
    if (const auto version = version_from(name)) {
      out.push_back({*version, model.directory + "/" + name});
    } else if (std::find(kOtherDirectories.begin(), kOtherDirectories.end(), name) ==
               kOtherDirectories.end()) {
      model.warnings.push_back(model.directory + "/" + name +
                               ": ignored, no version number (digits, not starting with 0)");
    }
  }
  std::sort(out.begin(), out.end(),
            [](const auto& a, const auto& b) { return a.version < b.version; });
  return out;
}

std::vector<VersionSource> chosen(const std::vector<VersionSource>& all,
                                  const VersionPolicy& policy) {
  switch (policy.kind) {
    case VersionPolicy::Kind::kAll:
      return all;
    case VersionPolicy::Kind::kLatest: {
      const auto count = std::min<std::size_t>(all.size(), policy.latest);
      return {all.end() - static_cast<std::ptrdiff_t>(count), all.end()};
    }
    case VersionPolicy::Kind::kSpecific:
      break;
  }
  std::vector<VersionSource> out;
  for (const auto& v : all) {
    if (std::binary_search(policy.specific.begin(), policy.specific.end(), v.version)) {
      out.push_back(v);
    }
  }
  return out;
}

/// The config as written; an empty one when there is no file.
Result<ConfigDocument> read_document(const ModelSource& model) {
  const std::string path = model.directory + "/config.pbtxt";
  std::error_code ec;
  std::string text;
  if (fs::exists(path, ec)) {
    TAUTO_ASSIGN_OR_RETURN(text, read_file(path, ConfigDocument::kTextBytesMax));
  }
  TAUTO_ASSIGN_OR_RETURN(const auto document, ConfigDocument::parse(text, path));
  return document.named(model.name);
}

bool is_there(const std::string& path) {
  std::error_code ec;
  return fs::exists(path, ec);
}

/// Fills document and versions, or says why not.
Status examine(ModelSource& model) {
  const auto all = versions_in(model);
  if (all.empty() && !is_there(model.directory + "/config.pbtxt")) {
    return Error{Code::kNotFound, model.directory +
                                      ": no config.pbtxt and no version directory like " +
                                      model.directory + "/1"};
  }
  TAUTO_ASSIGN_OR_RETURN(auto document, read_document(model));
  model.versions = chosen(all, document.version_policy());
  if (model.versions.empty()) {
    return Error{Code::kNotFound,
                 "at least one version must be available under the version "
                 "policy of model '" +
                     model.name + "'; make a directory like " + model.directory + "/1"};
  }
  const bool onnx = is_there(model.versions.back().path + "/model.onnx");
  document = document.with_backend_completed(onnx ? "model.onnx" : "");
  TAUTO_ASSIGN_OR_RETURN(const auto config, make_config(document));
  static_cast<void>(config);  // a broken config is told now, before any file is loaded
  model.document = std::move(document);
  return Unit{};
}

ModelSource examined(ModelSource model) {
  auto status = examine(model);
  if (!status.ok()) {
    model.problem = std::move(status).error().message;
    model.document.reset();
    model.versions.clear();
  }
  return model;
}

ModelSource single_file(const std::string& path) {
  const fs::path file(path);
  ModelSource model;
  model.name = file.stem().string();
  model.repository = path;
  model.directory = file.has_parent_path() ? file.parent_path().string() : ".";
  model.versions.push_back({1, path});
  auto document = ConfigDocument::parse("", path);
  auto named = document.ok() ? document.value().named(model.name) : std::move(document);
  if (named.ok()) {
    model.document = named.value().with_backend_completed(file.filename().string());
  } else {
    model.problem = named.error().message;
  }
  return model;
}

/// Keeps one entry a name; one found again is unavailable.
void add(std::map<std::string, ModelSource>& models, ModelSource model) {
  const auto [it, fresh] = models.try_emplace(model.name, model);
  if (fresh) return;
  auto& first = it->second;
  first.problem =
      "is in two places: " + first.repository + " and " + model.repository + "; keep one";
  first.document.reset();
  first.versions.clear();
}

}  // namespace

std::string_view state_name(ModelState state) {
  switch (state) {
    case ModelState::kUnknown:
      return "UNKNOWN";
    case ModelState::kReady:
      return "READY";
    case ModelState::kUnavailable:
      return "UNAVAILABLE";
    case ModelState::kLoading:
      return "LOADING";
    case ModelState::kUnloading:
      return "UNLOADING";
  }
  return "UNKNOWN";
}

Result<std::vector<ModelSource>> scan_repositories(std::span<const std::string> paths) {
  std::map<std::string, ModelSource> models;
  for (const auto& path : paths) {
    std::error_code ec;
    if (fs::is_regular_file(path, ec) && path.ends_with(".onnx")) {
      add(models, single_file(path));
      continue;
    }
    if (!fs::is_directory(path, ec)) {
      return Error{Code::kNotFound,
                   path + ": neither a model repository (a directory) nor an .onnx file"};
    }
    const auto names = directories_in(path, ec);
    if (ec) return Error{Code::kNotFound, path + ": cannot be read: " + ec.message()};
    for (const auto& name : names) {
      ModelSource model;
      model.name = name;
      model.repository = path;
      model.directory = path + "/" + name;
      add(models, examined(std::move(model)));
    }
  }
  std::vector<ModelSource> out;
  for (auto& [name, model] : models) out.push_back(std::move(model));
  return out;
}

}  // namespace tauto::model
