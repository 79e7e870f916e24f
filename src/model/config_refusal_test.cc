#include <gtest/gtest.h>

#include "model/config_document.h"
#include "model/config_test_util.h"

namespace tauto::model {
namespace {

struct Refusal {
  std::string extra;     // appended to the small model, or the whole text when it has a name
  std::string expected;  // part of the message
};
void PrintTo(const Refusal& r, std::ostream* out) { *out << r.expected; }

class Refused : public testing::TestWithParam<Refusal> {};

TEST_P(Refused, WithAPlaceAndAReason) {
  const auto& [extra, expected] = GetParam();
  const auto config = extra.starts_with("name") ? extra : text(extra);
  const auto parsed = parse_config(config, "c.pbtxt");
  ASSERT_FALSE(parsed.ok());
  EXPECT_NE(parsed.error().message.find(expected), std::string::npos) << parsed.error().message;
  EXPECT_TRUE(parsed.error().message.starts_with("c.pbtxt:")) << parsed.error().message;
}

const std::string kHead = "name: \"m\" backend: \"echo\" max_batch_size: 8\n";
const std::string kOut = "output { name: \"B\" data_type: TYPE_FP32 dims: 1 }\n";

INSTANTIATE_TEST_SUITE_P(
    NotSupportedYet, Refused,
    testing::Values(
        Refusal{"sequence_batching { direct { } state { initial_state { zero_data: true } }\n"
                "control_input { control { kind: CONTROL_SEQUENCE_CORRID } } }",
                "c.pbtxt:6: sequence_batching: not supported yet"},
        Refusal{"ensemble_scheduling { step { model_name: \"a\" model_version: -1 } }",
                "ensemble_scheduling: not supported yet"},
        Refusal{"response_cache { enable: true }", "response_cache.enable: not supported yet"},
        Refusal{"model_transaction_policy { decoupled: true }",
                "model_transaction_policy.decoupled: not supported yet"},
        Refusal{"model_repository_agents { agents { name: \"checksum\" } }",
                "model_repository_agents.agents: not supported yet"},
        Refusal{"model_operations { op_library_filename: \"a.so\" }",
                "op_library_filename: not supported yet"},
        Refusal{"cc_model_filenames { key: \"8.0\" value: \"a\" }",
                "cc_model_filenames: not supported yet"},
        Refusal{"instance_group {\n kind: KIND_GPU }",
                "c.pbtxt:7: instance_group[0].kind: not supported yet: KIND_GPU"},
        Refusal{"instance_group { rate_limiter { resources { name: \"r\" count: 1 } } }",
                "rate_limiter.resources: not supported yet"},
        Refusal{"optimization { execution_accelerators { gpu_execution_accelerator {\n"
                "name: \"tensorrt\" } } }",
                "\"tensorrt\": this build uses no GPU"},
        Refusal{"optimization { execution_accelerators { cpu_execution_accelerator {\n"
                "name: \"openvino\" } } }",
                "cpu_execution_accelerator[0]: not supported yet: \"openvino\""},
        Refusal{"batch_input { kind: BATCH_ITEM_SHAPE target_name: \"x\" }",
                "batch_input: not supported yet"},
        Refusal{"batch_output { target_name: \"x\" }", "batch_output: not supported yet"},
        Refusal{"input {\n name: \"Z\"\n allow_ragged_batch: true }",
                "c.pbtxt:8: input[1].allow_ragged_batch: not supported yet"},
        Refusal{"name: \"m\" backend: \"python\"", "backend: not supported yet: \"python\""},
        Refusal{"name: \"m\" platform: \"tensorrt_plan\"", "platform: not supported yet"},
        Refusal{parameter("tauto.policy", "rollout"), "not supported yet: policy \"rollout\""}));

INSTANTIATE_TEST_SUITE_P(
    Wrong, Refused,
    testing::Values(
        Refusal{"name: 3", "c.pbtxt:1:"},
        Refusal{"max_batch_sise: 3", "Did you mean \"max_batch_size\"?"},
        Refusal{"instance_group { coun: 3 }", "c.pbtxt:6:"},
        Refusal{"dynamic_batching { ", "c.pbtxt:6:"},
        Refusal{"name: \"\" backend: \"echo\"", "name: is missing"},
        Refusal{"name: \"m\"", "backend: is missing"},
        Refusal{"name: \"m\" platform: \"onnxruntime_onnx\"\nbackend: \"echo\"",
                "c.pbtxt:2: backend"},
        Refusal{"name: \"m\"\nmax_batch_size: -1 backend: \"echo\"",
                "c.pbtxt:2: max_batch_size: -1"},
        Refusal{"name: \"m\" backend: \"echo\" max_batch_size: 2147483647",
                "max_batch_size: 2147483647"},
        Refusal{"name: \"m\" backend: \"echo\" max_batch_size: 99999999999", "c.pbtxt:1:"},
        Refusal{kHead + "input { data_type: TYPE_FP32 dims: 1 }\n" + kOut,
                "input[0].name: is missing"},
        Refusal{kHead + "input { name: \"A\" dims: 1 }\n" + kOut, "c.pbtxt:2: input[0].data_type"},
        Refusal{kHead + "input { name: \"A\" data_type: TYPE_FP32 }\n" + kOut,
                "input[0].dims: are missing"},
        Refusal{kHead + "input { name: \"A\" data_type: TYPE_FP32 dims: [ 1,\n0 ] }\n" + kOut,
                "dimension 0"},
        Refusal{kHead + "input { name: \"A\" data_type: TYPE_FP32 dims: -2 }\n" + kOut,
                "dimension -2"},
        Refusal{
            kHead + "input { name: \"A\" data_type: TYPE_FP32 dims: [ 1,1,1,1,1,1,1,1 ] }\n" + kOut,
            "9 dimensions are too many"},
        Refusal{
            kHead +
                "input { name: \"A\" data_type: TYPE_FP32 dims: [ 4294967296, 4294967296 ] }\n" +
                kOut,
            "too many elements"},
        Refusal{
            kHead +
                "input { name: \"A\" data_type: TYPE_FP32 dims: [ 1, 2 ] format: FORMAT_NHWC }\n" +
                kOut,
            "must be 3 for FORMAT_NHWC"},
        Refusal{"input { name: \"A\" data_type: TYPE_FP32 dims: 1 }",
                "input[1].name: \"A\" is there twice"},
        Refusal{
            kHead +
                "input { name: \"A\" data_type: TYPE_FP32 dims: 4 reshape { shape: [ 2, 3 ] } }\n" +
                kOut,
            "must hold as many elements"},
        Refusal{kHead +
                    "input { name: \"A\" data_type: TYPE_FP32 dims: [ 2, -1, 3 ] reshape { shape: "
                    "[ 3, -1, 2 ] } }\n" +
                    kOut,
                "also between free dimensions"},
        Refusal{"name: \"m\" backend: \"echo\" input { name: \"A\" data_type: TYPE_FP32 dims: 1 "
                "reshape { } }\n" +
                    kOut,
                "input[0].reshape: is empty"},
        Refusal{"output { name: \"C\" data_type: TYPE_FP32 dims: 1 label_filename: \"../x\" }",
                "without \"..\""},
        Refusal{"default_model_filename: \"/etc/passwd\"", "must be a relative path"},
        Refusal{"version_policy { specific { } }", "versions: are missing"},
        Refusal{"version_policy { specific { versions: 0 } }", "numbered from 1"},
        Refusal{"instance_group { count: -3 }", "instance_group[0].count: -3"},
        Refusal{"instance_group { count: 2000000000 }", "count: 2000000000"},
        Refusal{"instance_group { kind: KIND_CPU gpus: 0 }", "instance_group[0].gpus"},
        Refusal{"dynamic_batching { preferred_batch_size: [ 4,\n 9 ] }",
                "c.pbtxt:6: dynamic_batching.preferred_batch_size[1]: 9"},
        Refusal{"dynamic_batching { preferred_batch_size: 0 }",
                "0 is not in 1 to max_batch_size, 8"},
        Refusal{"dynamic_batching { priority_levels: 2 }", "must be in 1 to priority_levels, 2"},
        Refusal{"dynamic_batching { priority_levels: 2 default_priority_level: 3 }",
                "default_priority_level is 3"},
        Refusal{"dynamic_batching { priority_levels: 4000000000 default_priority_level: 1 }",
                "is more than 1000"},
        Refusal{"dynamic_batching { priority_levels: 1 default_priority_level: 1\n"
                "priority_queue_policy { key: 2 value { } } }",
                "key 2"},
        Refusal{"dynamic_batching { preserve_ordering: true priority_levels: 2 "
                "default_priority_level: 1 }",
                "contradicts several priority levels"},
        Refusal{"dynamic_batching { preserve_ordering: true default_queue_policy {\n"
                "timeout_action: DELAY default_timeout_microseconds: 1 } }",
                "c.pbtxt:7: dynamic_batching.default_queue_policy.timeout_action"},
        Refusal{"dynamic_batching { max_queue_delay_microseconds: 18446744073709551615 }",
                "more than ten years"},
        Refusal{"dynamic_batching { max_queue_delay_microseconds: 18446744073709551616 }",
                "c.pbtxt:6:"},
        Refusal{"dynamic_batching { default_queue_policy { default_timeout_microseconds: "
                "18446744073709551615 } }",
                "more than ten years"},
        Refusal{"model_warmup { batch_size: 9 inputs { key: \"A\" value { data_type: TYPE_FP32 "
                "dims: 16 zero_data: true } } }",
                "9 is more than max_batch_size"},
        Refusal{"model_warmup { batch_size: 1 }", "\"A\" is missing"},
        Refusal{"model_warmup { batch_size: 1 count: 4000000000 }", "count: 4000000000"},
        Refusal{"model_warmup { batch_size: 1 inputs { key: \"X\" value { } } }", "is no input"},
        Refusal{"model_warmup { batch_size: 1 inputs { key: \"A\" value { data_type: TYPE_FP32 "
                "dims: -1 zero_data: true } } }",
                "needs fixed dims"},
        Refusal{"model_warmup { batch_size: 1 inputs { key: \"A\" value { data_type: TYPE_FP32 "
                "dims: 15 zero_data: true } } }",
                "needs fixed dims"},
        Refusal{"model_warmup { batch_size: 1 inputs { key: \"A\" value { data_type: TYPE_INT8 "
                "dims: 16 zero_data: true } } }",
                "another data_type"},
        Refusal{"model_warmup { batch_size: 1 inputs { key: \"A\" value { data_type: TYPE_FP32 "
                "dims: 16 } } }",
                "needs zero_data"},
        Refusal{"name: \"m\\377\" backend: \"echo\"", "name: is not valid UTF-8"},
        Refusal{"metric_tags { key: \"a\" value: \"\\300\" }", "is not valid UTF-8"},
        Refusal{"\n\n" + parameter("tauto.polcy", "eager"),
                "c.pbtxt:8: parameters[\"tauto.polcy\"]"},
        Refusal{parameter("tauto.polcy", "eager"), "did you mean \"tauto.policy\"?"},
        Refusal{parameter("tauto.policy", "eeger"), "did you mean \"eager\"?"},
        Refusal{parameter("tauto.deadline", "50"), "tauto.deadline"},
        Refusal{parameter("tauto.deadline", "0"), "must be more than 0"},
        Refusal{parameter("tauto.deadline", "25h"), "more than a day"},
        Refusal{parameter("tauto.fixed_rows", "9"), "tauto.fixed_rows"},
        Refusal{parameter("tauto.queue_depth", "0"), "tauto.queue_depth"},
        Refusal{parameter("tauto.queue_depth", "-1"), "tauto.queue_depth"},
        Refusal{parameter("tauto.on_late", "drop"), "neither \"reject\" nor \"finish\""},
        Refusal{parameter("tauto.threads", "99999999999999999999"), "tauto.threads"},
        Refusal{parameter("tauto.spin", "yes"), "neither \"true\" nor \"false\""},
        Refusal{parameter("tauto.label_names", "a,,b"), "no label name"},
        Refusal{parameter("tauto.label_names", "a,a"), "there twice"},
        Refusal{parameter("tauto.label_names", "a-b"), "no label name"},
        Refusal{parameter("tauto.label_names", "a,b,c,d,e,f,g,h,i"), "more than 8 labels"},
        Refusal{parameter("tauto.label_values_max", "0"), "tauto.label_values_max"},
        Refusal{parameter("tauto.warmup_shape", "1,2"), "no shape like [1,128]"},
        Refusal{parameter("tauto.warmup_shape", "[0]"), "no dimension of 1 or more"},
        Refusal{parameter("tauto.warmup_shape", "[-1]"), "no dimension of 1 or more"},
        Refusal{parameter("tauto.warmup_shape", "[1,1,1,1,1,1,1,1,1]"), "too many dimensions"},
        Refusal{parameter("tauto.warmup_shape", "[4294967296,4294967296]"), "too many elements"},
        Refusal{parameter("tauto.warmup_shape", "A=[1];=[2]"), "no pair like"}));

TEST(Config, HostileTextIsRefusedNotBelieved) {
  EXPECT_FALSE(parse_config("name: \"m\" " + std::string(10'000'000, ' '), "c").ok());
  std::string deep;
  for (int i = 0; i < 200'000; ++i) deep += "optimization { ";
  EXPECT_FALSE(parse_config(deep, "c").ok());
  EXPECT_FALSE(parse_config(std::string("name: \"m\"\0x", 11), "c").ok());
  EXPECT_FALSE(parse_config("[type.googleapis.com/a.b] { }", "c").ok());
  EXPECT_FALSE(parse_config("\xef\xbb\xbf\x00\x01\x02\xff\xfe", "c").ok());
  std::string many = kHead;
  for (int i = 0; i < 65; ++i) {
    many += "output { name: \"o" + std::to_string(i) + "\" data_type: TYPE_FP32 dims: 1 }\n";
  }
  const auto outputs = parse_config(many, "c");
  ASSERT_FALSE(outputs.ok());
  EXPECT_NE(outputs.error().message.find("more than 64 outputs"), std::string::npos);
}

}  // namespace
}  // namespace tauto::model
