#include "model/loader.h"

#include <gtest/gtest.h>

#include "engine/synthetic.h"
#include "model/loader_test_util.h"

namespace tauto::model {
namespace {

using namespace std::chrono_literals;

class Loader : public LoaderTest {};

TEST_F(Loader, CompletesAnEmptyConfigFromTheFile) {
  const auto m = loaded("");
  EXPECT_EQ(m.config.rows_max, 4u);
  EXPECT_TRUE(m.config.dynamic_batching);
  EXPECT_EQ(m.config.scheduling.policy, sched::PolicyKind::kTriton);
  ASSERT_EQ(m.signature.inputs.size(), 1u);
  EXPECT_EQ(m.signature.inputs[0].name, "x");
  EXPECT_EQ(m.signature.inputs[0].dims, (Shape{4}));
  EXPECT_EQ(m.signature.outputs[0].dims, (Shape{2}));
  EXPECT_EQ(m.signature.rows_max, 4u);
  EXPECT_NE(m.config_json.find(R"("platform":"onnxruntime_onnx","backend":"onnxruntime")"),
            std::string::npos);
  EXPECT_NE(m.config_json.find(R"("max_batch_size":4,"input":[{"name":"x")"), std::string::npos);
  EXPECT_NE(m.config_json.find(R"("dynamic_batching":{"preferred_batch_size":[4])"),
            std::string::npos);
  EXPECT_NE(m.config_json.find(R"("default_model_filename":"model.onnx")"), std::string::npos);
}

TEST_F(Loader, CompletionRules) {
  settings_.rows_max_default = 1;
  auto m = loaded("");
  EXPECT_EQ(m.config.rows_max, 1u);
  EXPECT_FALSE(m.config.dynamic_batching);
  settings_.rows_max_default = 4;

  m = loaded("max_batch_size: 16");  // written: kept, and no scheduler is invented
  EXPECT_EQ(m.config.rows_max, 16u);
  EXPECT_FALSE(m.config.dynamic_batching);

  script_.file.outputs[0].dims = Shape{2};  // one fixed first dimension: no batch
  m = loaded("");
  EXPECT_EQ(m.config.rows_max, 0u);
  EXPECT_EQ(m.signature.inputs[0].dims, (Shape{-1, 4}));

  script_.file.outputs[0].dims = Shape{-1, 2};
  m = loaded(
      "input { name: \"x\" data_type: TYPE_FP32 dims: [ -1, 4 ] }\n"
      "output { name: \"y\" data_type: TYPE_FP32 dims: [ -1, 2 ] }");
  EXPECT_EQ(m.config.rows_max, 0u);  // nothing is missing: nothing is completed

  script_.file.outputs[0].dims = Shape{-1};  // per row a scalar
  m = loaded("");
  EXPECT_EQ(m.config.outputs[0].dims, (Shape{1}));
  EXPECT_EQ(m.signature.outputs[0].dims, Shape{});

  settings_.auto_complete = false;
  refused("backend: \"onnxruntime\"", "auto-completion is off");
}

TEST_F(Loader, ChecksTheConfigAgainstTheFile) {
  const std::string x = "input { name: \"x\" data_type: TYPE_FP32 dims: 4 }\n";
  const std::string y = "output { name: \"y\" data_type: TYPE_FP32 dims: 2 }\n";
  const std::string batch = "max_batch_size: 8\n";
  EXPECT_EQ(loaded(batch + x + y).config.rows_max, 8u);
  refused(batch + "input { name: \"z\" data_type: TYPE_FP32 dims: 4 }" + y,
          "input \"x\" of the file (TYPE_FP32 [-1,4]) is missing in the config");
  refused(batch + x + "input { name: \"z\" data_type: TYPE_FP32 dims: 4 }" + y,
          "input \"z\" is not in the file, which has \"x\"");
  refused(batch + x + "output { name: \"q\" data_type: TYPE_FP32 dims: 2 }",
          "output \"q\" is not in the file");
  refused(batch + "input { name: \"x\" data_type: TYPE_INT64 dims: 4 }" + y,
          "input \"x\": the file has TYPE_FP32, the config says TYPE_INT64");
  refused(batch + "input { name: \"x\" data_type: TYPE_FP32 dims: 5 }" + y,
          "input \"x\": the file has shape [-1,4], the config makes it [-1,5]");
  refused(x + y, "input \"x\": the file has shape [-1,4], the config makes it [4]");
  script_.file.inputs[0].dims = Shape{1, 4};
  refused(batch + x + y, "whose first dimension is no batch");
}

TEST_F(Loader, TheEngineSeesReshapedTensors) {
  script_.file.inputs[0].dims = Shape{-1, 2, 2};
  Shape seen;
  script_.answers = [&](const engine::Batch& batch) {
    seen = batch.items[0].inputs[0].shape;
    return Unit{};
  };
  const auto m = loaded(
      "max_batch_size: 2\n"
      "input { name: \"x\" data_type: TYPE_FP32 dims: 4 reshape { shape: [ 2, 2 ] } }\n"
      "output { name: \"y\" data_type: TYPE_FP32 dims: 2 }");
  EXPECT_EQ(m.config.inputs[0].dims, (Shape{4}));
  EXPECT_EQ(m.signature.inputs[0].dims, (Shape{2, 2}));
  EXPECT_EQ(seen, (Shape{1, 2, 2}));
}

TEST_F(Loader, HandsTheEngineWhatTheConfigSays) {
  settings_.cpu_quota = 6;
  const auto m = loaded(
      "max_batch_size: 8 instance_group [ { count: 2 }, { count: 1 }, { count: 5 passive: true } "
      "]\n"
      "optimization { graph { level: 1 } }\n"
      "parameters { key: \"execution_mode\" value { string_value: \"1\" } }\n"
      "parameters { key: \"tauto.spin\" value { string_value: \"true\" } }");
  EXPECT_EQ(script_.loaded.model_path, path("r/m/1/model.onnx"));
  EXPECT_EQ(script_.loaded.threads, 2);  // six CPUs for three instances
  EXPECT_EQ(script_.loaded.graph_level, 1);
  EXPECT_EQ(script_.loaded.rows_max, 8u);
  EXPECT_TRUE(script_.loaded.spin);
  EXPECT_EQ(script_.loaded.parameters.at("execution_mode"), "1");
  EXPECT_EQ(m.instances.size(), 3u);
  EXPECT_EQ(m.report.instances, 3u);
  EXPECT_EQ(m.report.threads, 2);
  EXPECT_EQ(m.report.memory_bytes, 4096u);
  EXPECT_EQ(m.report.load, 178ms);
  loaded("instance_group { count: 9 }");
  EXPECT_EQ(script_.loaded.threads, 1);
  loaded("parameters { key: \"intra_op_thread_count\" value { string_value: \"5\" } }");
  EXPECT_EQ(script_.loaded.threads, 5);
  loaded("parameters { key: \"tauto.threads\" value { string_value: \"7\" } }");
  EXPECT_EQ(script_.loaded.threads, 7);
  refused("instance_group { passive: true }", "every instance_group is passive");
}

TEST_F(Loader, LabelsAreLines) {
  write("r/m/labels.txt", "cat\r\ndog\n\nfish");
  const std::string config =
      "max_batch_size: 1 input { name: \"x\" data_type: TYPE_FP32 dims: 4 }\n"
      "output { name: \"y\" data_type: TYPE_FP32 dims: 2 label_filename: \"";
  const auto m = loaded(config + "labels.txt\" }");
  EXPECT_EQ(m.labels.at("y"), (std::vector<std::string>{"cat", "dog", "", "fish"}));
  refused(config + "none.txt\" }", "none.txt: no such file");
}

TEST_F(Loader, SaysWhatIsMissing) {
  engines_.clear();
  refused("", "engine \"onnxruntime\" is not available here");
  engines_["onnxruntime"] = &fake_;
  refused("default_model_filename: \"net.onnx\"", "1/net.onnx: no such file");
}

TEST_F(Loader, ThePolicyFlagGoesBeforeTheConfig) {
  settings_.policy = sched::PolicyKind::kFixed;
  const auto m = loaded("max_batch_size: 4 dynamic_batching { }");
  EXPECT_EQ(m.config.scheduling.policy, sched::PolicyKind::kFixed);
  EXPECT_EQ(m.config.scheduling.rows_fixed, 4u);
}

TEST_F(Loader, AModelThatIsADirectory) {
  write("r/m/1/net.onnx/net.onnx", "weights");
  loaded("default_model_filename: \"net.onnx\"");
  EXPECT_EQ(script_.loaded.model_path, path("r/m/1/net.onnx/net.onnx"));
}

TEST_F(Loader, SyntheticModelsAreTheirConfig) {
  const auto synthetic = engine::make_synthetic_engine(time_);
  engines_["synthetic"] = synthetic.get();
  const std::string delays =
      "parameters { key: \"tauto.synthetic.mode\" value { string_value: \"none\" } }\n";
  const auto m = loaded(
      "backend: \"echo\" max_batch_size: 8 instance_group { count: 2 }\n"
      "input { name: \"x\" data_type: TYPE_FP32 dims: 4 }\n"
      "output { name: \"y\" data_type: TYPE_FP32 dims: 4 }\n" +
      delays);
  EXPECT_EQ(m.instances.size(), 2u);
  EXPECT_EQ(m.report.rows_warmed, 8u);
  EXPECT_TRUE(m.profiled);
  EXPECT_NE(m.config_json.find("\"backend\":\"echo\""), std::string::npos);
  refused("backend: \"synthetic\"", "a synthetic model");
}

TEST_F(Loader, ABrokenModelNeverStopsTheOthers) {
  write("s/a/config.pbtxt", "backend: \"nothing\"");
  make("s/a/1");
  write("s/b/1/model.onnx", "weights");
  write("s/b/2/model.onnx", "weights");
  write("s/b/config.pbtxt", "version_policy { all { } } default_model_filename: \"model.onnx\"");
  make("s/b/3");
  const auto found = scan_repositories(std::vector{path("s")});
  ASSERT_TRUE(found.ok());
  const auto outcomes = load_all(found.value(), engines_, time_, settings_);
  ASSERT_EQ(outcomes.size(), 4u);
  EXPECT_EQ(outcomes[0].name, "a");
  EXPECT_EQ(outcomes[0].state, ModelState::kUnavailable);
  EXPECT_EQ(outcomes[0].version, std::nullopt);
  EXPECT_NE(outcomes[0].reason.find("not supported yet"), std::string::npos);
  for (const auto i : {1u, 2u}) {
    EXPECT_EQ(outcomes[i].state, ModelState::kReady);
    EXPECT_EQ(outcomes[i].reason, "");
    ASSERT_TRUE(outcomes[i].loaded);
    EXPECT_EQ(outcomes[i].loaded->version, i);
  }
  EXPECT_EQ(outcomes[3].version, 3);
  EXPECT_NE(outcomes[3].reason.find("model.onnx: no such file"), std::string::npos);
}

}  // namespace
}  // namespace tauto::model
