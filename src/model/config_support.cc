// What Triton's config can say and we do not do: refused by name when ignoring it would change
// answers or safety, listed once when it would not.

#include <array>

#include "model/config_impl.h"
#include "model_config.pb.h"

namespace tauto::model {
namespace {

using inference::ModelConfig;
using inference::ModelInstanceGroup;

Trouble unsupported_platform(const ConfigDocument::Impl& document) {
  const auto& c = *document.proto;
  if (!c.platform().empty() && c.platform() != "onnxruntime_onnx") {
    return document.unsupported("platform", "\"" + c.platform() +
                                                "\"; this server runs onnxruntime_onnx, or set "
                                                "backend to onnxruntime or synthetic");
  }
  for (const auto* known : {"", "onnxruntime", "synthetic", "echo"}) {
    if (c.backend() == known) return std::nullopt;
  }
  return document.unsupported("backend", "\"" + c.backend() +
                                             "\"; this server has onnxruntime and synthetic (also "
                                             "called echo)");
}

Trouble unsupported_tensors(const ConfigDocument::Impl& document) {
  const auto& c = *document.proto;
  for (int i = 0; i < c.input_size(); ++i) {
    if (c.input(i).allow_ragged_batch()) {
      return document.unsupported(indexed("input", i) + ".allow_ragged_batch",
                                  "ragged batches; remove the field");
    }
  }
  if (c.batch_input_size() > 0) {
    return document.unsupported("batch_input", "inputs made by the batcher; remove the field");
  }
  if (c.batch_output_size() > 0) {
    return document.unsupported("batch_output",
                                "outputs scattered by the batcher; remove the field");
  }
  return std::nullopt;
}

Trouble unsupported_instances(const ConfigDocument::Impl& document) {
  const auto& c = *document.proto;
  for (int i = 0; i < c.instance_group_size(); ++i) {
    const auto path = indexed("instance_group", i);
    if (c.instance_group(i).kind() == ModelInstanceGroup::KIND_GPU) {
      return document.unsupported(path + ".kind",
                                  "KIND_GPU: this build uses no GPU; use KIND_CPU or KIND_AUTO");
    }
    if (c.instance_group(i).rate_limiter().resources_size() > 0) {
      return document.unsupported(path + ".rate_limiter.resources",
                                  "rate limiter resources; remove the field");
    }
  }
  return std::nullopt;
}

Trouble unsupported_accelerators(const ConfigDocument::Impl& document) {
  const auto& accelerators = document.proto->optimization().execution_accelerators();
  const std::string path = "optimization.execution_accelerators.";
  if (accelerators.gpu_execution_accelerator_size() > 0) {
    return document.unsupported(path + "gpu_execution_accelerator[0]",
                                "\"" + accelerators.gpu_execution_accelerator(0).name() +
                                    "\": this build uses no GPU; remove the accelerator");
  }
  if (accelerators.cpu_execution_accelerator_size() > 0) {
    return document.unsupported(path + "cpu_execution_accelerator[0]",
                                "\"" + accelerators.cpu_execution_accelerator(0).name() +
                                    "\"; remove it to run on ONNX Runtime's own CPU provider");
  }
  return std::nullopt;
}

Trouble unsupported_rest(const ConfigDocument::Impl& document) {
  const auto& c = *document.proto;
  if (c.has_sequence_batching()) {
    return document.unsupported("sequence_batching", "sequences; use dynamic_batching or nothing");
  }
  if (c.has_ensemble_scheduling()) {
    return document.unsupported("ensemble_scheduling", "ensembles");
  }
  if (c.response_cache().enable()) {
    return document.unsupported("response_cache.enable", "caching answers; set it to false");
  }
  if (c.model_transaction_policy().decoupled()) {
    return document.unsupported("model_transaction_policy.decoupled",
                                "more or fewer answers than one a request; set it to false");
  }
  if (c.model_repository_agents().agents_size() > 0) {
    return document.unsupported("model_repository_agents.agents", "repository agents");
  }
  if (c.model_operations().op_library_filename_size() > 0) {
    return document.unsupported("model_operations.op_library_filename",
                                "custom operator libraries");
  }
  if (!c.cc_model_filenames().empty()) {
    return document.unsupported("cc_model_filenames",
                                "a file for each GPU generation; name one file in "
                                "default_model_filename");
  }
  return std::nullopt;
}

void add(Config& config, std::string_view path, std::string_view why) {
  config.advisories.push_back(std::string(path) + ": read, no effect here" +
                              (why.empty() ? "" : " (" + std::string(why) + ")"));
}

void add_tensor_advisories(const ModelConfig& c, Config& config) {
  bool shape_tensor = false;
  bool linear = false;
  for (const auto& t : c.input()) {
    shape_tensor |= t.is_shape_tensor();
    linear |= t.is_non_linear_format_io();
  }
  for (const auto& t : c.output()) {
    shape_tensor |= t.is_shape_tensor();
    linear |= t.is_non_linear_format_io();
  }
  if (shape_tensor) add(config, "is_shape_tensor", "TensorRT only");
  if (linear) add(config, "is_non_linear_format_io", "TensorRT only");
}

void add_instance_advisories(const ModelConfig& c, Config& config) {
  bool profile = false, secondary = false, host = false, priority = false, gpus = false,
       passive = false;
  for (const auto& g : c.instance_group()) {
    profile |= g.profile_size() > 0;
    secondary |= g.secondary_devices_size() > 0;
    host |= !g.host_policy().empty();
    priority |= g.rate_limiter().priority() != 0;
    gpus |= g.gpus_size() > 0;
    passive |= g.passive();
  }
  if (profile) add(config, "instance_group.profile", "TensorRT only");
  if (secondary) add(config, "instance_group.secondary_devices", "TensorRT only");
  if (host) add(config, "instance_group.host_policy", "");
  if (priority) add(config, "instance_group.rate_limiter.priority", "there is no rate limiter");
  if (gpus) add(config, "instance_group.gpus", "KIND_AUTO is KIND_CPU without a GPU");
  if (passive) add(config, "instance_group.passive", "such a group gets no instances");
}

void add_optimization_advisories(const ModelConfig& c, Config& config) {
  const auto& o = c.optimization();
  if (o.priority() != 0) add(config, "optimization.priority", "TensorRT only");
  if (o.has_cuda()) add(config, "optimization.cuda", "TensorRT only");
  if (o.has_input_pinned_memory()) add(config, "optimization.input_pinned_memory", "GPU only");
  if (o.has_output_pinned_memory()) add(config, "optimization.output_pinned_memory", "GPU only");
  if (o.gather_kernel_buffer_threshold() != 0) {
    add(config, "optimization.gather_kernel_buffer_threshold", "TensorRT only");
  }
  if (o.eager_batching()) add(config, "optimization.eager_batching", "TensorRT only");
}

}  // namespace

Trouble find_unsupported(const ConfigDocument::Impl& document) {
  for (const auto check : {unsupported_rest, unsupported_platform, unsupported_tensors,
                           unsupported_instances, unsupported_accelerators}) {
    if (auto trouble = check(document)) return trouble;
  }
  return std::nullopt;
}

void add_advisories(const ConfigDocument::Impl& document, Config& config) {
  const auto& c = *document.proto;
  add_tensor_advisories(c, config);
  add_instance_advisories(c, config);
  add_optimization_advisories(c, config);
  if (!c.runtime().empty()) add(config, "runtime", "engines are built in");
  if (c.has_model_metrics()) add(config, "model_metrics", "histograms have their own buckets");
  static constexpr std::array kGpuParameters = {"cudnn_conv_algo_search", "gpu_mem_limit",
                                                "do_copy_in_default_stream"};
  if (config.backend != "onnxruntime") return;
  for (const auto* key : kGpuParameters) {
    if (c.parameters().contains(key))
      add(config, "parameters[\"" + std::string(key) + "\"]", "GPU only");
  }
}

}  // namespace tauto::model
