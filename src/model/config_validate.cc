// Triton's validation rules, with messages that say where and what to do.

#include <algorithm>
#include <filesystem>
#include <set>

#include "core/tensor.h"
#include "model/config_impl.h"
#include "model_config.pb.h"

namespace tauto::model {
namespace {

using inference::ModelQueuePolicy;
using Dims = google::protobuf::RepeatedField<std::int64_t>;

constexpr std::int64_t kRowsMax = std::int64_t{1} << 20;
constexpr std::uint64_t kMicrosecondsMax = 315'360'000'000'000;  // ten years: sums stay in int64 ns
constexpr std::uint64_t kPriorityLevelsMax = 1'000;
constexpr int kInstancesMax = 1'024;
constexpr std::uint32_t kWarmupCountMax = 10'000;
constexpr int kOutputsMax = 64;  // engine::Batch::outputs_wanted is a 64-bit set

std::string text(std::uint64_t n) { return std::to_string(n); }
std::string text(std::int64_t n) { return std::to_string(n); }

/// File names in a config stay inside the model's directory.
Trouble bad_file_name(const ConfigDocument::Impl& d, const std::string& path,
                      const std::string& name) {
  if (name.empty()) return std::nullopt;
  const std::filesystem::path file(name);
  const bool up = std::any_of(file.begin(), file.end(), [](const auto& p) { return p == ".."; });
  if (file.is_absolute() || up || name.find('\0') != std::string::npos) {
    return d.invalid(path, "\"" + name + "\" must be a relative path without \"..\"");
  }
  return std::nullopt;
}

Trouble bad_dims(const ConfigDocument::Impl& d, const std::string& path, const Dims& dims) {
  const int batch = d.proto->max_batch_size() > 0 ? 1 : 0;
  if (dims.size() + batch > static_cast<int>(Shape::kRankMax)) {
    return d.invalid(path, text(std::int64_t{dims.size() + batch}) +
                               " dimensions are too many; at most " +
                               text(std::uint64_t{Shape::kRankMax}) + " with the batch");
  }
  for (const auto dim : dims) {
    if (dim < 1 && dim != -1) {
      return d.invalid(path, "dimension " + text(dim) + "; each must be 1 or more, or -1 for free");
    }
  }
  return std::nullopt;
}

/// Element counts of the runs between free dimensions; nullopt when one overflows.
std::optional<std::vector<std::int64_t>> runs_of(const Dims& dims) {
  std::vector<std::int64_t> out = {1};
  for (const auto dim : dims) {
    if (dim == -1) {
      out.push_back(1);
    } else if (__builtin_mul_overflow(out.back(), dim, &out.back())) {
      return std::nullopt;
    }
  }
  return out;
}

template <class Tensor>
Trouble bad_reshape(const ConfigDocument::Impl& d, const std::string& path, const Tensor& t) {
  if (!t.has_reshape()) return std::nullopt;
  const auto& shape = t.reshape().shape();
  if (auto trouble = bad_dims(d, path + ".reshape.shape", shape)) return trouble;
  if (shape.empty() && d.proto->max_batch_size() == 0 && !d.completed) {
    return d.invalid(path + ".reshape", "is empty; only a model with max_batch_size >= 1 may");
  }
  if (runs_of(shape) != runs_of(t.dims())) {
    return d.invalid(path + ".reshape.shape",
                     "must hold as many elements as dims, also between free dimensions");
  }
  return std::nullopt;
}

template <class Tensor>
Trouble bad_tensor(const ConfigDocument::Impl& d, const std::string& path, const Tensor& t,
                   std::set<std::string>& names) {
  if (t.name().empty()) return d.invalid(path + ".name", "is missing; name the tensor");
  if (!names.insert(t.name()).second) {
    return d.invalid(path + ".name", "\"" + t.name() + "\" is there twice");
  }
  if (t.data_type() <= 0 || t.data_type() >= static_cast<int>(kDataTypeCount)) {
    return d.invalid(path + ".data_type",
                     "is missing or unknown for \"" + t.name() + "\"; use TYPE_FP32 or the like");
  }
  if (t.dims().empty()) {
    return d.invalid(path + ".dims", "are missing for \"" + t.name() +
                                         "\"; a scalar is dims: [ 1 ] with an empty reshape");
  }
  if (auto trouble = bad_dims(d, path + ".dims", t.dims())) return trouble;
  if (!runs_of(t.dims())) return d.invalid(path + ".dims", "hold too many elements");
  return bad_reshape(d, path, t);
}

Trouble bad_tensors(const ConfigDocument::Impl& d) {
  const auto& c = *d.proto;
  std::set<std::string> inputs;
  for (int i = 0; i < c.input_size(); ++i) {
    const auto path = indexed("input", i);
    if (auto trouble = bad_tensor(d, path, c.input(i), inputs)) return trouble;
    if (c.input(i).format() != 0 && c.input(i).dims_size() != 3) {
      return d.invalid(path + ".dims", "must be 3 for FORMAT_NHWC and FORMAT_NCHW");
    }
  }
  std::set<std::string> outputs;
  for (int i = 0; i < c.output_size(); ++i) {
    const auto path = indexed("output", i);
    if (auto trouble = bad_tensor(d, path, c.output(i), outputs)) return trouble;
    if (auto trouble = bad_file_name(d, path + ".label_filename", c.output(i).label_filename())) {
      return trouble;
    }
  }
  if (c.output_size() > kOutputsMax) {
    return d.unsupported("output", "more than " + text(std::int64_t{kOutputsMax}) + " outputs");
  }
  return std::nullopt;
}

Trouble bad_basics(const ConfigDocument::Impl& d) {
  const auto& c = *d.proto;
  if (c.name().empty()) return d.invalid("name", "is missing; it must equal the directory");
  if (c.platform() == "onnxruntime_onnx" && !c.backend().empty() && c.backend() != "onnxruntime") {
    return d.invalid(
        "backend", "\"" + c.backend() + "\" does not go with platform onnxruntime_onnx; keep one");
  }
  if (c.max_batch_size() < 0 || c.max_batch_size() > kRowsMax) {
    return d.invalid("max_batch_size",
                     text(std::int64_t{c.max_batch_size()}) + " is not in 0 to " + text(kRowsMax));
  }
  for (const auto version : c.version_policy().specific().versions()) {
    if (version < 1) {
      return d.invalid("version_policy.specific.versions",
                       text(version) + ": versions are numbered from 1");
    }
  }
  if (c.version_policy().has_specific() && c.version_policy().specific().versions().empty()) {
    return d.invalid("version_policy.specific.versions", "are missing; name at least one");
  }
  return bad_file_name(d, "default_model_filename", c.default_model_filename());
}

Trouble bad_instances(const ConfigDocument::Impl& d) {
  std::int64_t total = 0;
  for (int i = 0; i < d.proto->instance_group_size(); ++i) {
    const auto& group = d.proto->instance_group(i);
    const auto path = indexed("instance_group", i);
    total += std::max(group.count(), 1);
    if (group.count() < 0 || total > kInstancesMax) {
      return d.invalid(path + ".count", text(std::int64_t{group.count()}) + " is not in 1 to " +
                                            text(std::int64_t{kInstancesMax}) + " a model");
    }
    if (group.kind() != inference::ModelInstanceGroup::KIND_AUTO && group.gpus_size() > 0) {
      return d.invalid(path + ".gpus", "do not go with a kind without GPUs; remove them");
    }
    if (group.kind() < 0 || group.kind() > inference::ModelInstanceGroup::KIND_MODEL) {
      return d.invalid(path + ".kind", "is unknown");
    }
  }
  return std::nullopt;
}

Trouble bad_queue_policy(const ConfigDocument::Impl& d, const std::string& path,
                         const ModelQueuePolicy& policy) {
  if (policy.default_timeout_microseconds() > kMicrosecondsMax) {
    return d.invalid(
        path + ".default_timeout_microseconds",
        text(policy.default_timeout_microseconds()) + " is more than ten years; 0 means no limit");
  }
  if (d.proto->dynamic_batching().preserve_ordering() &&
      policy.timeout_action() == ModelQueuePolicy::DELAY &&
      policy.default_timeout_microseconds() > 0) {
    return d.invalid(path + ".timeout_action",
                     "DELAY with a timeout contradicts preserve_ordering; choose one");
  }
  return std::nullopt;
}

Trouble bad_priorities(const ConfigDocument::Impl& d) {
  const auto& b = d.proto->dynamic_batching();
  const std::string path = "dynamic_batching.";
  const auto levels = b.priority_levels();
  if (levels > kPriorityLevelsMax) {
    return d.invalid(path + "priority_levels",
                     text(levels) + " is more than " + text(kPriorityLevelsMax));
  }
  const auto standard = b.default_priority_level();
  if (levels > 0 ? (standard < 1 || standard > levels) : standard != 0) {
    return d.invalid(path + (standard == 0 ? "priority_levels" : "default_priority_level"),
                     "default_priority_level is " + text(standard) +
                         " but must be in 1 to priority_levels, " + text(levels));
  }
  if (b.preserve_ordering() && levels > 1) {
    return d.invalid(path + "preserve_ordering", "contradicts several priority levels; choose one");
  }
  if (auto trouble = bad_queue_policy(d, path + "default_queue_policy", b.default_queue_policy())) {
    return trouble;
  }
  for (const auto& [level, policy] : b.priority_queue_policy()) {
    if (level < 1 || level > levels) {
      return d.invalid(path + "priority_queue_policy",
                       "key " + text(level) + " must be in 1 to priority_levels, " + text(levels));
    }
    if (auto trouble = bad_queue_policy(d, path + "priority_queue_policy", policy)) return trouble;
  }
  return std::nullopt;
}

Trouble bad_batching(const ConfigDocument::Impl& d) {
  if (!d.proto->has_dynamic_batching()) return std::nullopt;
  const auto& b = d.proto->dynamic_batching();
  // Auto-completion may still raise max_batch_size 0: then the sizes are judged after it.
  const bool open =
      d.proto->max_batch_size() == 0 && (d.proto->input().empty() || d.proto->output().empty());
  for (int i = 0; i < b.preferred_batch_size_size() && !open; ++i) {
    const auto size = b.preferred_batch_size(i);
    if (size < 1 || size > d.proto->max_batch_size()) {
      return d.invalid(indexed("dynamic_batching.preferred_batch_size", i),
                       text(std::int64_t{size}) + " is not in 1 to max_batch_size, " +
                           text(std::int64_t{d.proto->max_batch_size()}));
    }
  }
  if (b.max_queue_delay_microseconds() > kMicrosecondsMax) {
    return d.invalid("dynamic_batching.max_queue_delay_microseconds",
                     text(b.max_queue_delay_microseconds()) + " is more than ten years");
  }
  return bad_priorities(d);
}

bool dims_match(const Dims& actual, const Dims& declared) {
  return actual.size() == declared.size() &&
         std::equal(actual.begin(), actual.end(), declared.begin(),
                    [](auto a, auto b) { return b == -1 || a == b; });
}

Trouble bad_warmup_input(const ConfigDocument::Impl& d, const std::string& path,
                         const std::string& name, const inference::ModelWarmup::Input& w) {
  const auto& inputs = d.proto->input();
  const auto it = std::find_if(inputs.begin(), inputs.end(),
                               [&](const auto& input) { return input.name() == name; });
  const std::string tensor = "\"" + name + "\" ";
  if (it == inputs.end()) {
    if (inputs.empty()) return std::nullopt;  // judged after auto-completion
    return d.invalid(path, tensor + "is no input of this model");
  }
  if (auto trouble = bad_dims(d, path, w.dims())) return trouble;
  if (w.data_type() != it->data_type()) {
    return d.invalid(path, tensor + "has another data_type than the input");
  }
  if (std::find(w.dims().begin(), w.dims().end(), -1) != w.dims().end() ||
      !dims_match(w.dims(), it->dims())) {
    return d.invalid(path, tensor + "needs fixed dims that fit those of the input");
  }
  if (w.input_data_type_case() == inference::ModelWarmup::Input::INPUT_DATA_TYPE_NOT_SET) {
    return d.invalid(path, tensor + "needs zero_data, random_data or input_data_file");
  }
  return bad_file_name(d, path, w.input_data_file());
}

Trouble bad_warmups(const ConfigDocument::Impl& d) {
  const auto rows_max = static_cast<std::uint32_t>(std::max(d.proto->max_batch_size(), 1));
  for (int i = 0; i < d.proto->model_warmup_size(); ++i) {
    const auto& w = d.proto->model_warmup(i);
    const auto path = indexed("model_warmup", i);
    const bool open = d.proto->max_batch_size() == 0 && d.proto->input().empty();
    if (w.batch_size() > rows_max && !open) {
      return d.invalid(path + ".batch_size",
                       text(std::uint64_t{w.batch_size()}) + " is more than max_batch_size");
    }
    if (w.count() > kWarmupCountMax) {
      return d.invalid(path + ".count", text(std::uint64_t{w.count()}) + " is more than " +
                                            text(std::uint64_t{kWarmupCountMax}));
    }
    for (const auto& [name, input] : w.inputs()) {
      if (auto trouble = bad_warmup_input(d, path + ".inputs", name, input)) return trouble;
    }
    for (const auto& input : d.proto->input()) {
      if (w.batch_size() > 0 && !input.optional() && !w.inputs().contains(input.name())) {
        return d.invalid(path + ".inputs", "\"" + input.name() + "\" is missing");
      }
    }
  }
  return std::nullopt;
}

}  // namespace

Trouble find_invalid(const ConfigDocument::Impl& document) {
  for (const auto check : {bad_basics, bad_tensors, bad_instances, bad_batching, bad_warmups}) {
    if (auto trouble = check(document)) return trouble;
  }
  return std::nullopt;
}

}  // namespace tauto::model
