#include "model/loader.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "model/config_complete.h"
#include "model/config_json.h"
#include "model/files.h"
#include "model/tauto_keys.h"
#include "model/warmup.h"

namespace tauto::model {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLabelBytesMax = std::size_t{16} << 20;

Error refused(std::string message) { return Error{Code::kInvalidArgument, std::move(message)}; }

std::vector<TensorSpec> specs_of(const std::vector<TensorConfig>& tensors) {
  std::vector<TensorSpec> out;
  for (const auto& t : tensors) out.push_back({t.name, t.type, t.reshape ? *t.reshape : t.dims});
  return out;
}

engine::Signature signature_of(const Config& config) {
  return {specs_of(config.inputs), specs_of(config.outputs), config.rows_max};
}

std::uint32_t instance_count(const Config& config) {
  std::uint32_t out = 0;
  for (const auto& group : config.instance_groups) out += group.passive ? 0 : group.count;
  return out;
}

/// tauto.threads, else Triton's intra_op_thread_count, else the quota shared by the instances.
int threads_of(const Config& config, int cpu_quota) {
  if (config.threads) return *config.threads;
  if (const auto it = config.parameters.find("intra_op_thread_count");
      it != config.parameters.end()) {
    int threads = 0;
    const auto& text = it->second;
    const auto end = text.data() + text.size();
    const auto [at, problem] = std::from_chars(text.data(), end, threads);
    if (problem == std::errc() && at == end && threads > 0 && threads <= 1'024) return threads;
  }
  const auto instances = static_cast<int>(std::max(instance_count(config), 1u));
  return std::max(cpu_quota / instances, 1);
}

Result<std::string> model_file(const Config& config, const VersionSource& version) {
  if (config.backend == "synthetic") return std::string();
  std::error_code ec;
  if (fs::is_regular_file(version.path, ec)) return version.path;
  const auto& name = config.default_filename;
  const std::string path = version.path + "/" + (name.empty() ? "model.onnx" : name);
  if (!fs::exists(path, ec)) {
    return Error{Code::kNotFound, path +
                                      ": no such file; put the model there or set "
                                      "default_model_filename"};
  }
  // A directory in a file's place holds a file of the same name.
  if (fs::is_directory(path, ec)) return path + "/" + fs::path(path).filename().string();
  return path;
}

Result<engine::Engine*> engine_for(const Config& config, const Engines& engines) {
  const auto it = engines.find(config.backend);
  if (it == engines.end() || it->second == nullptr) {
    return Error{Code::kUnavailable, "engine \"" + config.backend + "\" is not available here"};
  }
  return it->second;
}

Result<std::unique_ptr<engine::Model>> load_engine_model(LoadedModel& out, engine::Engine& engine,
                                                         const VersionSource& version,
                                                         const TimeSource& time) {
  const auto& config = out.config;
  engine::LoadOptions options;
  TAUTO_ASSIGN_OR_RETURN(options.model_path, model_file(config, version));
  options.parameters = config.parameters;
  options.threads = out.report.threads;
  options.spin = config.spin;
  options.graph_level = config.graph_level;
  options.rows_max = config.rows_max;
  options.declared = signature_of(config);
  const Instant start = time.now();
  if (!options.model_path.empty()) read_through(version.path);
  const Instant read = time.now();
  out.report.read = read - start;
  auto model = engine.load(options);
  out.report.load = time.now() - read;
  return model;
}

/// Completes the document from the file, or checks that the two agree.
Status settle_config(LoadedModel& out, ConfigDocument document, const LoadSettings& settings) {
  if (out.config.backend == "synthetic") {  // there is no file: the config is the model
    if (document.incomplete()) {
      return refused("inputs and outputs are missing; the synthetic engine needs them");
    }
  } else {
    const auto& file = out.model->description();
    if (document.incomplete() && !settings.auto_complete) {
      return refused("inputs or outputs are missing and auto-completion is off");
    }
    document = complete_config(document, file, settings.rows_max_default);
    TAUTO_ASSIGN_OR_RETURN(out.config, make_config(document));
    TAUTO_RETURN_IF_ERROR(check_against_file(out.config, file));
  }
  if (settings.policy) set_policy(out.config, *settings.policy);
  out.config_json = config_json(document);
  out.signature = signature_of(out.config);
  return Unit{};
}

Status read_labels(LoadedModel& out, const std::string& directory) {
  for (const auto& output : out.config.outputs) {
    if (output.label_filename.empty()) continue;
    TAUTO_ASSIGN_OR_RETURN(const auto text,
                           read_file(directory + "/" + output.label_filename, kLabelBytesMax));
    auto& labels = out.labels[output.name];
    for (std::size_t at = 0; at < text.size();) {
      const auto end = std::min(text.find('\n', at), text.size());
      auto line = text.substr(at, end - at);
      if (line.ends_with('\r')) line.pop_back();
      labels.push_back(std::move(line));
      at = end + 1;
    }
  }
  return Unit{};
}

Status make_instances(LoadedModel& out) {
  const auto count = instance_count(out.config);
  if (count == 0) return refused("every instance_group is passive; none would run");
  for (std::uint32_t i = 0; i < count; ++i) {
    TAUTO_ASSIGN_OR_RETURN(auto instance, out.model->make_instance(out.signature));
    out.instances.push_back(std::move(instance));
  }
  out.report.instances = count;
  return Unit{};
}

}  // namespace

Result<LoadedModel> load_model(const ModelSource& source, const VersionSource& version,
                               const Engines& engines, const TimeSource& time,
                               const LoadSettings& settings) {
  if (!source.problem.empty() || !source.document) return refused(source.problem);
  LoadedModel out;
  out.name = source.name;
  out.version = version.version;
  TAUTO_ASSIGN_OR_RETURN(out.config, make_config(*source.document));
  TAUTO_ASSIGN_OR_RETURN(auto* const engine, engine_for(out.config, engines));
  TAUTO_RETURN_IF_ERROR(read_labels(out, source.directory));
  out.report.threads = threads_of(out.config, settings.cpu_quota);
  TAUTO_ASSIGN_OR_RETURN(out.model, load_engine_model(out, *engine, version, time));
  TAUTO_RETURN_IF_ERROR(settle_config(out, *source.document, settings));
  const Instant before = time.now();
  TAUTO_RETURN_IF_ERROR(make_instances(out));
  out.report.load += time.now() - before;
  out.report.memory_bytes = out.model->memory_bytes();
  TAUTO_RETURN_IF_ERROR(warm_up(out, source.directory, time, settings));
  return out;
}

std::vector<LoadOutcome> load_all(const std::vector<ModelSource>& sources, const Engines& engines,
                                  const TimeSource& time, const LoadSettings& settings) {
  std::vector<LoadOutcome> out;
  for (const auto& source : sources) {
    if (source.versions.empty()) {
      out.push_back({source.name, std::nullopt, ModelState::kUnavailable, source.problem, nullptr});
    }
    for (const auto& version : source.versions) {
      auto loaded = load_model(source, version, engines, time, settings);
      LoadOutcome outcome{source.name, version.version, ModelState::kUnavailable, "", nullptr};
      if (loaded.ok()) {
        outcome.state = ModelState::kReady;
        outcome.loaded = std::make_unique<LoadedModel>(std::move(loaded).value());
      } else {
        outcome.reason = std::move(loaded).error().message;
      }
      out.push_back(std::move(outcome));
    }
  }
  return out;
}

}  // namespace tauto::model
