#include <gtest/gtest.h>

#include <algorithm>

#include "model/config_document.h"
#include "model/config_test_util.h"
#include "model/reshape.h"
#include "model/tauto_keys.h"
#include "model/utf8.h"

namespace tauto::model {
namespace {

using namespace std::chrono_literals;
using sched::PolicyKind;

Config good(const std::string& config) {
  auto parsed = parse_config(config, "c.pbtxt");
  EXPECT_TRUE(parsed.ok()) << parsed.error().message << "\n" << config;
  return parsed.ok() ? std::move(parsed).value() : Config{};
}

TEST(Config, ReadsTheBasics) {
  const auto c = good(text());
  EXPECT_EQ(c.name, "m");
  EXPECT_EQ(c.backend, "synthetic");
  EXPECT_EQ(c.platform_shown, "echo");
  EXPECT_EQ(c.rows_max, 8u);
  ASSERT_EQ(c.inputs.size(), 1u);
  EXPECT_EQ(c.inputs[0].name, "A");
  EXPECT_EQ(c.inputs[0].type, DataType::kFp32);
  EXPECT_EQ(c.inputs[0].dims, (Shape{16}));
  EXPECT_FALSE(c.inputs[0].optional);
  ASSERT_EQ(c.instance_groups.size(), 1u);
  EXPECT_EQ(c.instance_groups[0].name, "m_0");
  EXPECT_EQ(c.instance_groups[0].count, 1u);
  EXPECT_EQ(c.versions.kind, VersionPolicy::Kind::kLatest);
  EXPECT_EQ(c.versions.latest, 1u);
  EXPECT_EQ(c.graph_level, 99);
  EXPECT_FALSE(c.dynamic_batching);
  EXPECT_EQ(c.scheduling.policy, PolicyKind::kDirect);
  EXPECT_EQ(c.scheduling.rows_max, 8u);
  EXPECT_TRUE(c.advisories.empty());
}

TEST(Config, WithoutABatchDimensionOneRowIsTheLargestBatch) {
  const auto c = good(text("", 0));
  EXPECT_EQ(c.rows_max, 0u);
  EXPECT_EQ(c.scheduling.rows_max, 1u);
}

TEST(Config, DynamicBatchingMeansTritonsPolicy) {
  const auto plain = good(text("dynamic_batching { }"));
  EXPECT_EQ(plain.scheduling.policy, PolicyKind::kTriton);
  EXPECT_EQ(plain.scheduling.rows_preferred, (std::vector<std::uint32_t>{8}));
  EXPECT_EQ(plain.scheduling.hold_max, 0ns);

  const auto c =
      good(text("dynamic_batching {\n"
                "  preferred_batch_size: [ 8, 4, 4 ]\n  max_queue_delay_microseconds: 50000\n"
                "  priority_levels: 3\n  default_priority_level: 2\n"
                "  default_queue_policy { timeout_action: DELAY default_timeout_microseconds: 100\n"
                "    allow_timeout_override: true max_queue_size: 7 }\n"
                "  priority_queue_policy { key: 3 value { max_queue_size: 2 } }\n"
                "  priority_queue_policy { key: 1 value { default_timeout_microseconds: 9 } }\n}"));
  const auto& s = c.scheduling;
  EXPECT_EQ(s.rows_preferred, (std::vector<std::uint32_t>{4, 8}));
  EXPECT_EQ(s.hold_max, 50ms);
  EXPECT_EQ(s.priority_levels, 3u);
  EXPECT_EQ(s.priority_default, 2u);
  EXPECT_EQ(s.queue_default.timeout_action, sched::TimeoutAction::kDelay);
  EXPECT_EQ(s.queue_default.timeout_default, 100us);
  EXPECT_TRUE(s.queue_default.timeout_override);
  EXPECT_EQ(s.queue_default.queue_depth_max, 7u);
  ASSERT_EQ(s.queue_by_priority.size(), 2u);
  EXPECT_EQ(s.queue_by_priority[0].first, 1u);
  EXPECT_EQ(s.queue_by_priority[0].second.timeout_default, 9us);
  EXPECT_EQ(s.queue_by_priority[0].second.queue_depth_max, std::nullopt);
  EXPECT_EQ(s.queue_by_priority[1].first, 3u);
  EXPECT_EQ(s.queue_by_priority[1].second.timeout_default, std::nullopt);
}

TEST(Config, ReadsTheRestOfTritonsFields) {
  const auto c = good(
      "name: \"m\" platform: \"onnxruntime_onnx\" max_batch_size: 4\n"
      "input { name: \"ids\" data_type: TYPE_INT64 dims: [ -1, 4 ] optional: true\n"
      "  reshape { shape: [ 1, -1, 2, 2 ] } }\n"
      "input { name: \"img\" data_type: TYPE_UINT8 format: FORMAT_NCHW dims: [ 3, 2, 2 ] }\n"
      "output { name: \"B\" data_type: TYPE_STRING dims: [ 1 ] label_filename: \"l/labels.txt\"\n"
      "  reshape { shape: [ ] } }\n"
      "instance_group [ { count: 2 kind: KIND_CPU }, { name: \"g\" kind: KIND_MODEL } ]\n"
      "version_policy { specific { versions: [ 7, 3 ] } }\n"
      "default_model_filename: \"net.onnx\"\n"
      "metric_tags { key: \"team\" value: \"vision\" }\n"
      "optimization { graph { level: -1 } }\n"
      "model_warmup { name: \"w\" batch_size: 2 count: 3\n"
      "  inputs { key: \"ids\" value { data_type: TYPE_INT64 dims: [ 5, 4 ] zero_data: true } }\n"
      "  inputs { key: \"img\" value { data_type: TYPE_UINT8 dims: [ 3, 2, 2 ]\n"
      "    input_data_file: \"raw\" } } }\n" +
      parameter("execution_mode", "1"));
  EXPECT_EQ(c.backend, "onnxruntime");
  EXPECT_EQ(c.platform_shown, "onnxruntime_onnx");
  EXPECT_TRUE(c.inputs[0].optional);
  EXPECT_EQ(c.inputs[0].reshape, (Shape{1, -1, 2, 2}));
  EXPECT_EQ(c.outputs[0].type, DataType::kBytes);
  EXPECT_EQ(c.outputs[0].label_filename, "l/labels.txt");
  EXPECT_EQ(c.outputs[0].reshape, Shape{});
  ASSERT_EQ(c.instance_groups.size(), 2u);
  EXPECT_EQ(c.instance_groups[0].count, 2u);
  EXPECT_EQ(c.instance_groups[1].name, "g");
  EXPECT_EQ(c.versions.kind, VersionPolicy::Kind::kSpecific);
  EXPECT_EQ(c.versions.specific, (std::vector<std::int64_t>{3, 7}));
  EXPECT_EQ(c.default_filename, "net.onnx");
  EXPECT_EQ(c.metric_tags.at("team"), "vision");
  EXPECT_EQ(c.graph_level, -1);
  EXPECT_EQ(c.parameters.at("execution_mode"), "1");
  ASSERT_EQ(c.warmups.size(), 1u);
  EXPECT_EQ(c.warmups[0].rows, 2u);
  EXPECT_EQ(c.warmups[0].count, 3u);
  EXPECT_EQ(c.warmups[0].inputs.at("ids").dims, (Shape{5, 4}));
  EXPECT_EQ(c.warmups[0].inputs.at("img").data, WarmupInput::Data::kFile);
}

TEST(Config, FieldsWithoutEffectAreListedOnce) {
  const auto c = good(
      "name: \"m\" backend: \"onnxruntime\" runtime: \"x.so\" max_batch_size: 8\n"
      "input { name: \"A\" data_type: TYPE_FP32 dims: 1 is_shape_tensor: true }\n"
      "input { name: \"C\" data_type: TYPE_FP32 dims: 1 is_shape_tensor: true\n"
      "  is_non_linear_format_io: true }\n"
      "output { name: \"B\" data_type: TYPE_FP32 dims: 1 }\n"
      "instance_group { kind: KIND_AUTO gpus: 0 profile: \"p\" host_policy: \"h\"\n"
      "  rate_limiter { priority: 2 } secondary_devices { kind: KIND_NVDLA device_id: 1 } }\n"
      "instance_group { passive: true }\n"
      "optimization { priority: PRIORITY_MAX cuda { graphs: true graph_spec { batch_size: 1\n"
      "    input { key: \"A\" value { dim: 1 } } graph_lower_bound { batch_size: 1 } } }\n"
      "  input_pinned_memory { enable: false } output_pinned_memory { enable: true }\n"
      "  gather_kernel_buffer_threshold: 1 eager_batching: true }\n"
      "model_metrics { metric_control { metric_identifier { family: \"f\" }\n"
      "  histogram_options { buckets: [ 1, 2.5 ] } } }\n"
      "model_warmup { name: \"w\" batch_size: 0 }\n"
      "response_cache { enable: false } model_transaction_policy { decoupled: false }\n" +
      parameter("gpu_mem_limit", "1"));
  const std::vector<std::string> fields = {"is_shape_tensor",
                                           "is_non_linear_format_io",
                                           "instance_group.profile",
                                           "instance_group.secondary_devices",
                                           "instance_group.host_policy",
                                           "instance_group.rate_limiter.priority",
                                           "instance_group.gpus",
                                           "instance_group.passive",
                                           "optimization.priority",
                                           "optimization.cuda",
                                           "optimization.input_pinned_memory",
                                           "optimization.output_pinned_memory",
                                           "optimization.gather_kernel_buffer_threshold",
                                           "optimization.eager_batching",
                                           "runtime",
                                           "model_metrics",
                                           "parameters[\"gpu_mem_limit\"]",
                                           "model_warmup \"w\""};
  EXPECT_EQ(c.advisories.size(), fields.size());
  for (const auto& field : fields) {
    const auto times = std::count_if(c.advisories.begin(), c.advisories.end(),
                                     [&](const auto& a) { return a.starts_with(field + ":"); });
    EXPECT_EQ(times, 1) << field;
  }
}

TEST(Config, TautoKeys) {
  const auto c = good(text(
      parameter("tauto.policy", "fixed") + parameter("tauto.fixed_rows", "4") +
      parameter("tauto.deadline", "50ms") + parameter("tauto.queue_depth", "17") +
      parameter("tauto.hold_max", "2ms") + parameter("tauto.on_late", "finish") +
      parameter("tauto.threads", "3") + parameter("tauto.spin", "true") +
      parameter("tauto.label_names", "tenant, route") + parameter("tauto.label_values_max", "5") +
      parameter("tauto.warmup_shape", "A=[1,128]; C=[ 2 ]") +
      parameter("tauto.synthetic.anything", "goes") + parameter("other", "too")));
  EXPECT_EQ(c.scheduling.policy, PolicyKind::kFixed);
  EXPECT_EQ(c.scheduling.rows_fixed, 4u);
  EXPECT_EQ(c.objective, 50ms);
  EXPECT_EQ(c.scheduling.queue_depth_max, 17u);
  EXPECT_EQ(c.scheduling.hold_max, 2ms);
  EXPECT_FALSE(c.scheduling.late_is_error);
  EXPECT_EQ(c.threads, 3);
  EXPECT_TRUE(c.spin);
  EXPECT_EQ(c.labels.names, (std::vector<std::string>{"tenant", "route"}));
  EXPECT_EQ(c.labels.values_max, 5u);
  EXPECT_EQ(c.warmup_shapes.at("A"), (Shape{1, 128}));
  EXPECT_EQ(c.warmup_shapes.at("C"), (Shape{2}));
  EXPECT_FALSE(c.warmup_shape);
  EXPECT_EQ(c.parameters.at("tauto.synthetic.anything"), "goes");
  EXPECT_TRUE(c.advisories.empty());
  EXPECT_EQ(good(text(parameter("tauto.warmup_shape", "[1,128]"))).warmup_shape, (Shape{1, 128}));
}

TEST(Config, PoliciesGetWhatTheyNeed) {
  EXPECT_EQ(good(text(parameter("tauto.policy", "fixed"))).scheduling.rows_fixed, 8u);
  EXPECT_EQ(good(text(parameter("tauto.policy", "triton"))).scheduling.rows_preferred,
            (std::vector<std::uint32_t>{8}));
  EXPECT_EQ(
      good(text("dynamic_batching { }\n" + parameter("tauto.policy", "eager"))).scheduling.policy,
      PolicyKind::kEager);
  for (const auto kind :
       {PolicyKind::kDirect, PolicyKind::kEager, PolicyKind::kFixed, PolicyKind::kTriton}) {
    const auto back = policy_from_name(policy_name(kind));
    ASSERT_TRUE(back.ok());
    EXPECT_EQ(back.value(), kind);
  }
}

TEST(Config, ADeadlineAloneKeepsThePolicyAndSaysSo) {
  const auto c = good(text("dynamic_batching { }\n" + parameter("tauto.deadline", "20ms")));
  EXPECT_EQ(c.scheduling.policy, PolicyKind::kTriton);
  ASSERT_EQ(c.advisories.size(), 1u);
  EXPECT_NE(c.advisories[0].find("rollout"), std::string::npos);
}

TEST(Config, TheNameIsTheDirectorys) {
  const auto named = ConfigDocument::parse("backend: \"echo\"", "c");
  ASSERT_TRUE(named.ok());
  EXPECT_EQ(named.value().named("dir").value().name(), "dir");
  const auto other = ConfigDocument::parse("\nname: \"x\"", "c.pbtxt");
  ASSERT_TRUE(other.ok());
  EXPECT_TRUE(other.value().named("x").ok());
  const auto refused = other.value().named("dir");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message,
            "c.pbtxt:2: name: is \"x\" but the directory is \"dir\"; they must be equal");
}

TEST(Keys, AreDocumentedOnce) {
  std::vector<std::string_view> names;
  for (const auto& key : tauto_keys()) {
    EXPECT_TRUE(key.name.starts_with("tauto."));
    EXPECT_FALSE(key.type.empty() || key.meaning.empty());
    names.push_back(key.name);
  }
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::unique(names.begin(), names.end()), names.end());
}

TEST(Reshape, FreeDimensionsKeepTheirOrder) {
  EXPECT_EQ(reshape(Shape{5, 4}, Shape{-1, 4}, Shape{2, -1, 2}), (Shape{2, 5, 2}));
  EXPECT_EQ(reshape(Shape{2, 7, 9}, Shape{2, -1, -1}, Shape{-1, -1, 1, 2}), (Shape{7, 9, 1, 2}));
  EXPECT_EQ(reshape(Shape{1}, Shape{1}, Shape{}), Shape{});
}

TEST(Utf8, AcceptsTextAndNothingElse) {
  for (const auto* yes :
       {"", "abc", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xed\x9f\xbf"}) {
    EXPECT_TRUE(is_utf8(yes)) << yes;
  }
  for (const auto* no : {"\xff", "\xc0\x80", "\xc3", "\xe0\x80\x80", "\xed\xa0\x80",
                         "\xf4\x90\x80\x80", "\x80", "\xe2\x82", "\xf0\x80\x80\x80", "a\xc3z"}) {
    EXPECT_FALSE(is_utf8(no));
  }
}

}  // namespace
}  // namespace tauto::model
