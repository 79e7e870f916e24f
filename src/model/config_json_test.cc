#include "model/config_json.h"

#include <gtest/gtest.h>

#include "model/config_document.h"

namespace tauto::model {
namespace {

std::string json_of(const std::string& text) {
  const auto document = ConfigDocument::parse(text, "c");
  EXPECT_TRUE(document.ok()) << document.error().message;
  return document.ok() ? config_json(document.value()) : "";
}

const std::string kEcho = R"(
name: "echo_dyn2000"
backend: "echo"
max_batch_size: 32
input [ { name: "INPUT0" data_type: TYPE_FP32 dims: [ 16 ] } ]
output [ { name: "OUTPUT0" data_type: TYPE_FP32 dims: [ 16 ] } ]
instance_group [ { kind: KIND_CPU count: 1 } ]
)";

// The answers of a Triton 2.51 to these very configs, byte for byte.
TEST(ConfigJson, IsTritonsForADynamicBatcher) {
  EXPECT_EQ(
      json_of(kEcho + "dynamic_batching { max_queue_delay_microseconds: 2000 }"),
      R"({"name":"echo_dyn2000","platform":"","backend":"echo","runtime":"",)"
      R"("version_policy":{"latest":{"num_versions":1}},"max_batch_size":32,)"
      R"("input":[{"name":"INPUT0","data_type":"TYPE_FP32","format":"FORMAT_NONE","dims":[16],)"
      R"("is_shape_tensor":false,"allow_ragged_batch":false,"optional":false,)"
      R"("is_non_linear_format_io":false}],"output":[{"name":"OUTPUT0","data_type":"TYPE_FP32",)"
      R"("dims":[16],"label_filename":"","is_shape_tensor":false,)"
      R"("is_non_linear_format_io":false}],"batch_input":[],"batch_output":[],)"
      R"("optimization":{"priority":"PRIORITY_DEFAULT","input_pinned_memory":{"enable":true},)"
      R"("output_pinned_memory":{"enable":true},"gather_kernel_buffer_threshold":0,)"
      R"("eager_batching":false},"dynamic_batching":{"preferred_batch_size":[32],)"
      R"("max_queue_delay_microseconds":2000,"preserve_ordering":false,"priority_levels":0,)"
      R"("default_priority_level":0,"priority_queue_policy":{}},)"
      R"("instance_group":[{"name":"echo_dyn2000_0","kind":"KIND_CPU","count":1,"gpus":[],)"
      R"("secondary_devices":[],"profile":[],"passive":false,"host_policy":""}],)"
      R"("default_model_filename":"","cc_model_filenames":{},"metric_tags":{},)"
      R"("parameters":{},"model_warmup":[]})");
}

TEST(ConfigJson, IsTritonsForTwoTensorsAndAVersion) {
  const auto tensor = [](const std::string& name) {
    return R"({"name":")" + name + R"(","data_type":"TYPE_INT32",)";
  };
  const std::string in = R"("format":"FORMAT_NONE","dims":[16],"is_shape_tensor":false,)"
                         R"("allow_ragged_batch":false,"optional":false,)"
                         R"("is_non_linear_format_io":false})";
  const std::string out = R"("dims":[16],"label_filename":"","is_shape_tensor":false,)"
                          R"("is_non_linear_format_io":false})";
  const std::string dims = "data_type: TYPE_INT32 dims: [ 16 ] }";
  EXPECT_EQ(
      json_of("name: \"two\" backend: \"echo\" max_batch_size: 8\n"
              "input [ { name: \"INPUT0\" " +
              dims + ", { name: \"INPUT1\" " + dims +
              " ]\n"
              "output [ { name: \"OUTPUT0\" " +
              dims + ", { name: \"OUTPUT1\" " + dims +
              " ]\n"
              "instance_group [ { kind: KIND_CPU count: 1 } ]\n"
              "version_policy: { specific { versions: [1] } }"),
      R"({"name":"two","platform":"","backend":"echo","runtime":"",)"
      R"("version_policy":{"specific":{"versions":[1]}},"max_batch_size":8,"input":[)" +
          tensor("INPUT0") + in + "," + tensor("INPUT1") + in + R"(],"output":[)" +
          tensor("OUTPUT0") + out + "," + tensor("OUTPUT1") + out +
          R"(],"batch_input":[],"batch_output":[],)"
          R"("optimization":{"priority":"PRIORITY_DEFAULT","input_pinned_memory":{"enable":true},)"
          R"("output_pinned_memory":{"enable":true},"gather_kernel_buffer_threshold":0,)"
          R"("eager_batching":false},)"
          R"("instance_group":[{"name":"two_0","kind":"KIND_CPU","count":1,"gpus":[],)"
          R"("secondary_devices":[],"profile":[],"passive":false,"host_policy":""}],)"
          R"("default_model_filename":"","cc_model_filenames":{},"metric_tags":{},)"
          R"("parameters":{},"model_warmup":[]})");
}

TEST(ConfigJson, NumbersMapsAndUnsetMessages) {
  const auto json = json_of(
      kEcho +
      "dynamic_batching { max_queue_delay_microseconds: 9007199254740993 priority_levels: 12\n"
      "  default_priority_level: 1\n"
      "  priority_queue_policy { key: 10 value { max_queue_size: 5 } }\n"
      "  priority_queue_policy { key: 2 value { timeout_action: DELAY } } }\n"
      "parameters { key: \"z\" value { string_value: \"1\" } }\n"
      "parameters { key: \"a\\\"b\" value { string_value: \"\\303\\251\" } }\n"
      "model_metrics { metric_control { histogram_options { buckets: [ 0.5, 2 ] } } }\n"
      "model_warmup { name: \"w\" batch_size: 1 inputs { key: \"INPUT0\"\n"
      "  value { data_type: TYPE_FP32 dims: 16 zero_data: true } } }\n"
      "response_cache { }");
  const auto has = [&](const std::string& part) {
    EXPECT_NE(json.find(part), std::string::npos) << part << "\n" << json;
  };
  has(R"("max_queue_delay_microseconds":9007199254740993,)");
  has(R"("priority_queue_policy":{"2":{"timeout_action":"DELAY","default_timeout_microseconds":0,)"
      R"("allow_timeout_override":false,"max_queue_size":0},"10":{"timeout_action":"REJECT",)");
  has(R"("parameters":{"a\"b":{"string_value":"é"},"z":{"string_value":"1"}})");
  has(R"("histogram_options":{"buckets":[0.5,2]})");
  has(R"("inputs":{"INPUT0":{"data_type":"TYPE_FP32","dims":[16],"zero_data":true}},"count":0}])");
  has(R"("response_cache":{"enable":false})");
  EXPECT_EQ(json.find("random_data"), std::string::npos);
  EXPECT_EQ(json.find("sequence_batching"), std::string::npos);
}

TEST(ConfigJson, DefaultsAreFilledIn) {
  const auto json = json_of("name: \"m\" backend: \"echo\"");
  EXPECT_NE(json.find(R"("instance_group":[{"name":"m_0","kind":"KIND_CPU","count":1,)"),
            std::string::npos);
  EXPECT_NE(json.find(R"("version_policy":{"latest":{"num_versions":1}})"), std::string::npos);
}

}  // namespace
}  // namespace tauto::model
