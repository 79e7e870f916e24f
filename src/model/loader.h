#pragma once
// From a model's place on disk to instances that are warm: read, load, complete, check, make
// instances, warm up, measure.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "core/service_time.h"
#include "engine/engine.h"
#include "model/config.h"
#include "model/repository.h"

namespace tauto::model {

/// By Config::backend ("onnxruntime", "synthetic"); borrowed for the call.
using Engines = std::map<std::string, engine::Engine*>;

struct LoadSettings {
  int cpu_quota = 1;  // whole CPUs this process may use, >= 1
  Duration warm_budget = std::chrono::seconds(3);
  std::uint32_t rows_max_default = 4;       // Triton's default-max-batch-size
  bool auto_complete = true;                // false: inputs and outputs must be written
  std::optional<sched::PolicyKind> policy;  // overrides every config
};

/// What the time to ready was spent on, and what was learnt.
struct LoadReport {
  Duration read{};       // model files through the page cache
  Duration load{};       // engine
  Duration first_run{};  // the first batch of the first instance
  Duration warm{};       // everything run after that
  std::uint32_t instances = 0;
  int threads = 1;                    // per instance
  std::uint32_t rows_warmed = 0;      // largest row count that ran; 0 = not warm
  std::optional<Duration> one_row;    // l(1), when profiled
  std::optional<Duration> rows_max;   // l(rows_max); measured only if rows_warmed reaches it
  std::optional<bool> batching_pays;  // l(b)/b falls by a tenth or more for some measured b > 1
  std::uint64_t memory_bytes = 0;     // as the engine says; 0 = unknown
  std::vector<std::string> notes;     // why unprofiled, what was cut short; one line each
};

/// One loaded version. `instances` belong to `model`; destroy them first (the order here does).
struct LoadedModel {
  std::string name;
  std::int64_t version = 1;
  Config config;
  std::string config_json;
  /// What the engine sees: dims are `reshape` where the config has one (see reshape.h). Order of
  /// config.inputs and config.outputs.
  engine::Signature signature;
  std::map<std::string, std::vector<std::string>> labels;  // by output name
  std::unique_ptr<engine::Model> model;
  std::vector<std::unique_ptr<engine::Instance>> instances;  // >= 1
  ServiceTime service_time;
  bool profiled = false;
  LoadReport report;
};

/// Blocks for seconds. Errors: why the model is unavailable, for people. Threads: one call at a
/// time for one Engine object, unless the engine says otherwise.
Result<LoadedModel> load_model(const ModelSource& source, const VersionSource& version,
                               const Engines& engines, const TimeSource& time,
                               const LoadSettings& settings);

/// One line of the repository index.
struct LoadOutcome {
  std::string name;
  std::optional<std::int64_t> version;  // absent when no version could be tried
  ModelState state = ModelState::kUnavailable;
  std::string reason;                   // "" when ready
  std::unique_ptr<LoadedModel> loaded;  // when ready
};

/// Loads every version of every source, in order; a broken one never stops the others.
std::vector<LoadOutcome> load_all(const std::vector<ModelSource>& sources, const Engines& engines,
                                  const TimeSource& time, const LoadSettings& settings);

}  // namespace tauto::model
