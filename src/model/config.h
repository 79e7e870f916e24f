#pragma once
// One model's config as the rest of the house sees it: validated, normalised, without protobuf.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "core/tensor.h"
#include "sched/events.h"

namespace tauto::model {

struct TensorConfig {
  std::string name;
  DataType type = DataType::kInvalid;
  Shape dims;                    // as declared, without the batch dimension
  std::optional<Shape> reshape;  // what the engine sees instead of dims
  std::string label_filename;    // outputs
  bool optional = false;         // inputs
};

struct InstanceGroup {
  std::string name;
  std::uint32_t count = 1;
  bool passive = false;  // made for nobody here: a passive group gets no instances
};

struct VersionPolicy {
  enum class Kind { kLatest, kAll, kSpecific } kind = Kind::kLatest;
  std::uint32_t latest = 1;
  std::vector<std::int64_t> specific;
};

/// One entry of model_warmup; `dims` are fixed and without the batch dimension.
struct WarmupInput {
  DataType type = DataType::kInvalid;
  Shape dims;
  enum class Data { kZero, kRandom, kFile } data = Data::kZero;
  std::string file;
};
struct Warmup {
  std::string name;
  std::uint32_t rows = 1;   // >= 1: entries with batch_size 0 are left out
  std::uint32_t count = 1;  // >= 1 runs
  std::map<std::string, WarmupInput> inputs;
};

/// Labels a request may carry into metrics and journeys: parameter `tauto.label.<name>`.
struct LabelRules {
  std::vector<std::string> names;  // allow-list; others are refused
  std::uint32_t values_max = 32;   // distinct values a label; more count as "other"
};

struct Config {
  std::string name;
  std::string platform;
  std::string backend;         // "onnxruntime", "synthetic" ("echo" means synthetic)
  std::string platform_shown;  // for model metadata: platform, else the backend as written
  std::uint32_t rows_max = 0;  // max_batch_size; 0 = no batch dimension
  std::vector<TensorConfig> inputs;
  std::vector<TensorConfig> outputs;
  VersionPolicy versions;
  std::vector<InstanceGroup> instance_groups;
  std::string default_filename;  // "" = the engine's usual name
  std::map<std::string, std::string> parameters;
  std::map<std::string, std::string> metric_tags;
  std::vector<Warmup> warmups;
  int graph_level = 99;  // 99 = not set
  bool dynamic_batching = false;

  // Derived from dynamic_batching and the tauto.* parameters:
  sched::ModelSettings scheduling;
  std::optional<Duration> objective;  // tauto.deadline: each request's default deadline
  LabelRules labels;
  std::optional<Shape> warmup_shape;  // tauto.warmup_shape: for inputs with a free dimension
  std::map<std::string, Shape> warmup_shapes;  // the same by input name
  std::optional<int> threads;                  // tauto.threads: per instance
  bool spin = false;                           // tauto.spin: threads may spin between operators
  std::vector<std::string> advisories;         // fields read but without effect here, one line each
};

}  // namespace tauto::model
