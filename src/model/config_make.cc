// From the proto to Config: no protobuf beyond this point.

#include <algorithm>

#include "model/config_impl.h"
#include "model/tauto_keys.h"
#include "model_config.pb.h"

namespace tauto::model {
namespace {

Shape shape_of(const google::protobuf::RepeatedField<std::int64_t>& dims) {
  return Shape(std::span(dims.data(), static_cast<std::size_t>(dims.size())));
}

template <class Tensor>
TensorConfig tensor_of(const Tensor& t) {
  TensorConfig out;
  out.name = t.name();
  out.type = static_cast<DataType>(t.data_type());  // equal numbers, validated
  out.dims = shape_of(t.dims());
  if (t.has_reshape()) out.reshape = shape_of(t.reshape().shape());
  return out;
}

void make_tensors(const inference::ModelConfig& c, Config& out) {
  for (const auto& input : c.input()) {
    out.inputs.push_back(tensor_of(input));
    out.inputs.back().optional = input.optional();
  }
  for (const auto& output : c.output()) {
    out.outputs.push_back(tensor_of(output));
    out.outputs.back().label_filename = output.label_filename();
  }
}

sched::QueuePolicy queue_policy_of(const inference::ModelQueuePolicy& p) {
  sched::QueuePolicy out;
  out.timeout_action = p.timeout_action() == inference::ModelQueuePolicy::DELAY
                           ? sched::TimeoutAction::kDelay
                           : sched::TimeoutAction::kReject;
  if (p.default_timeout_microseconds() > 0) {
    out.timeout_default =
        std::chrono::microseconds(static_cast<std::int64_t>(p.default_timeout_microseconds()));
  }
  out.timeout_override = p.allow_timeout_override();
  if (p.max_queue_size() > 0) out.queue_depth_max = p.max_queue_size();
  return out;
}

void make_scheduling(const inference::ModelConfig& c, Config& out) {
  auto& s = out.scheduling;
  s.rows_max = std::max(out.rows_max, 1u);
  if (!c.has_dynamic_batching()) return;
  const auto& b = c.dynamic_batching();
  out.dynamic_batching = true;
  s.policy = sched::PolicyKind::kTriton;
  for (const auto size : b.preferred_batch_size()) {
    s.rows_preferred.push_back(static_cast<std::uint32_t>(size));
  }
  std::sort(s.rows_preferred.begin(), s.rows_preferred.end());
  s.rows_preferred.erase(std::unique(s.rows_preferred.begin(), s.rows_preferred.end()),
                         s.rows_preferred.end());
  s.hold_max =
      std::chrono::microseconds(static_cast<std::int64_t>(b.max_queue_delay_microseconds()));
  s.preserve_ordering = b.preserve_ordering();
  s.priority_levels = static_cast<std::uint32_t>(b.priority_levels());
  s.priority_default = static_cast<std::uint32_t>(b.default_priority_level());
  s.queue_default = queue_policy_of(b.default_queue_policy());
  for (const auto& [level, policy] : b.priority_queue_policy()) {
    s.queue_by_priority.emplace_back(static_cast<std::uint32_t>(level), queue_policy_of(policy));
  }
  std::sort(s.queue_by_priority.begin(), s.queue_by_priority.end(),
            [](const auto& a, const auto& b2) { return a.first < b2.first; });
}

WarmupInput warmup_input_of(const inference::ModelWarmup::Input& w) {
  WarmupInput out;
  out.type = static_cast<DataType>(w.data_type());
  out.dims = shape_of(w.dims());
  if (w.has_random_data()) out.data = WarmupInput::Data::kRandom;
  if (w.has_input_data_file()) {
    out.data = WarmupInput::Data::kFile;
    out.file = w.input_data_file();
  }
  return out;
}

void make_warmups(const inference::ModelConfig& c, Config& out) {
  for (const auto& w : c.model_warmup()) {
    if (w.batch_size() == 0) {
      out.advisories.push_back("model_warmup \"" + w.name() + "\": batch_size 0, skipped");
      continue;
    }
    Warmup made;
    made.name = w.name();
    made.rows = w.batch_size();
    made.count = std::max(w.count(), 1u);
    for (const auto& [name, input] : w.inputs()) made.inputs[name] = warmup_input_of(input);
    out.warmups.push_back(std::move(made));
  }
}

void make_rest(const inference::ModelConfig& c, Config& out) {
  for (const auto& g : c.instance_group()) {
    out.instance_groups.push_back({g.name(), static_cast<std::uint32_t>(g.count()), g.passive()});
  }
  out.default_filename = c.default_model_filename();
  for (const auto& [key, value] : c.parameters()) out.parameters[key] = value.string_value();
  for (const auto& [key, value] : c.metric_tags()) out.metric_tags[key] = value;
  if (c.optimization().has_graph()) out.graph_level = c.optimization().graph().level();
}

VersionPolicy versions_of(const inference::ModelVersionPolicy& p) {
  VersionPolicy out;
  if (p.has_all()) out.kind = VersionPolicy::Kind::kAll;
  if (p.has_specific()) {
    out.kind = VersionPolicy::Kind::kSpecific;
    out.specific.assign(p.specific().versions().begin(), p.specific().versions().end());
    std::sort(out.specific.begin(), out.specific.end());
  }
  if (p.has_latest()) out.latest = std::max(p.latest().num_versions(), 1u);
  return out;
}

}  // namespace

void normalise(inference::ModelConfig& c) {
  auto& policy = *c.mutable_version_policy();
  if (policy.policy_choice_case() == inference::ModelVersionPolicy::POLICY_CHOICE_NOT_SET ||
      (policy.has_latest() && policy.latest().num_versions() == 0)) {
    policy.mutable_latest()->set_num_versions(1);
  }
  if (c.instance_group().empty()) c.add_instance_group();
  for (int i = 0; i < c.instance_group_size(); ++i) {
    auto& group = *c.mutable_instance_group(i);
    if (group.name().empty()) group.set_name(c.name() + "_" + std::to_string(i));
    if (group.count() == 0) group.set_count(1);
    if (group.kind() == inference::ModelInstanceGroup::KIND_AUTO) {
      group.set_kind(inference::ModelInstanceGroup::KIND_CPU);
      group.clear_gpus();
    }
  }
  auto& optimization = *c.mutable_optimization();
  if (!optimization.has_input_pinned_memory()) {
    optimization.mutable_input_pinned_memory()->set_enable(true);
  }
  if (!optimization.has_output_pinned_memory()) {
    optimization.mutable_output_pinned_memory()->set_enable(true);
  }
  if (c.has_dynamic_batching() && c.max_batch_size() > 0 &&
      c.dynamic_batching().preferred_batch_size().empty()) {
    c.mutable_dynamic_batching()->add_preferred_batch_size(c.max_batch_size());
  }
}

VersionPolicy ConfigDocument::version_policy() const {
  return versions_of(impl_->proto->version_policy());
}

Result<Config> make_config(const ConfigDocument& document) {
  const auto& impl = document.impl();
  if (auto trouble = find_invalid(impl)) return *std::move(trouble);
  inference::ModelConfig c = *impl.proto;
  normalise(c);
  Config out;
  out.name = c.name();
  out.platform = c.platform();
  out.platform_shown = c.platform().empty() ? c.backend() : c.platform();
  out.backend = c.backend() == "echo" ? "synthetic" : c.backend();
  if (out.backend.empty() && out.platform == "onnxruntime_onnx") out.backend = "onnxruntime";
  if (out.backend.empty()) {
    return impl.invalid("backend", "is missing; set it to \"onnxruntime\" or \"synthetic\"");
  }
  out.rows_max = static_cast<std::uint32_t>(c.max_batch_size());
  out.versions = versions_of(c.version_policy());
  make_tensors(c, out);
  make_rest(c, out);
  make_scheduling(c, out);
  make_warmups(c, out);
  add_advisories(impl, out);
  if (auto bad = apply_tauto_keys(out)) {
    return impl.invalid_entry("parameters", bad->key, bad->error.message);
  }
  return out;
}

}  // namespace tauto::model
