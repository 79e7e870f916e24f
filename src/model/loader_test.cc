#include "model/loader.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "engine/synthetic.h"
#include "model/temp_dir_fixture.h"

namespace tauto::model {
namespace {

using namespace std::chrono_literals;

/// Time passes only when the fake engine says so.
class ManualTime : public TimeSource {
 public:
  Instant now() const override { return now_; }
  void pass(Duration d) { now_ += d; }

 private:
  Instant now_ = instant_at_ns(1);
};

/// What a fake engine was asked to do, and how it shall behave.
struct Script {
  engine::ModelDescription file;
  std::function<Duration(std::uint32_t rows)> takes = [](std::uint32_t) { return 1ms; };
  std::function<Status(const engine::Batch&)> answers = [](const engine::Batch&) { return Unit{}; };
  engine::LoadOptions loaded;
  engine::Signature signature;
  std::vector<std::vector<std::uint32_t>> rows_by_instance;
};

/// Stands for an engine with a model file; runs in manual time.
class FakeEngine : public engine::Engine {
 public:
  FakeEngine(Script& script, ManualTime& time) : script_(script), time_(time) {}
  std::string name() const override { return "fake"; }
  std::string version() const override { return "1"; }
  Result<std::unique_ptr<engine::Model>> load(const engine::LoadOptions& options) override {
    script_.loaded = options;
    time_.pass(178ms);
    return std::unique_ptr<engine::Model>(std::make_unique<FakeModel>(script_, time_));
  }

 private:
  class FakeInstance : public engine::Instance {
   public:
    FakeInstance(Script& script, ManualTime& time, std::size_t index)
        : script_(script), time_(time), index_(index) {}
    Status run(const engine::Batch& batch, engine::BatchOutput&, engine::BatchTimes&) override {
      script_.rows_by_instance[index_].push_back(batch.rows);
      time_.pass(script_.takes(batch.rows));
      return script_.answers(batch);
    }

   private:
    Script& script_;
    ManualTime& time_;
    std::size_t index_;
  };
  class FakeModel : public engine::Model {
   public:
    FakeModel(Script& script, ManualTime& time) : script_(script), time_(time) {}
    const engine::ModelDescription& description() const override { return script_.file; }
    Result<std::unique_ptr<engine::Instance>> make_instance(
        const engine::Signature& signature) override {
      script_.signature = signature;
      script_.rows_by_instance.emplace_back();
      return std::unique_ptr<engine::Instance>(
          std::make_unique<FakeInstance>(script_, time_, script_.rows_by_instance.size() - 1));
    }
    std::uint64_t memory_bytes() const override { return 4096; }

   private:
    Script& script_;
    ManualTime& time_;
  };

  Script& script_;
  ManualTime& time_;
};

TensorSpec spec(const std::string& name, DataType type, Shape dims) { return {name, type, dims}; }

class Loader : public TempDirTest {
 protected:
  Loader() : fake_(script_, time_) {
    engines_["onnxruntime"] = &fake_;
    script_.file.inputs = {spec("x", DataType::kFp32, {-1, 4})};
    script_.file.outputs = {spec("y", DataType::kFp32, {-1, 2})};
  }
  Result<LoadedModel> load(const std::string& config) {
    write("r/m/config.pbtxt", config);
    write("r/m/1/model.onnx", "weights");
    const auto found = scan_repositories(std::vector{path("r")});
    EXPECT_TRUE(found.ok());
    const auto& source = found.value().at(0);
    if (!source.problem.empty()) return Error{Code::kInvalidArgument, source.problem};
    return load_model(source, source.versions.at(0), engines_, time_, settings_);
  }
  LoadedModel loaded(const std::string& config) {
    auto model = load(config);
    EXPECT_TRUE(model.ok()) << model.error().message;
    return model.ok() ? std::move(model).value() : LoadedModel{};
  }
  void refused(const std::string& config, const std::string& expected) {
    const auto model = load(config);
    ASSERT_FALSE(model.ok()) << config;
    EXPECT_NE(model.error().message.find(expected), std::string::npos) << model.error().message;
  }

  ManualTime time_;
  Script script_;
  FakeEngine fake_;
  Engines engines_;
  LoadSettings settings_;
};

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

TEST_F(Loader, MeasuresServiceTimeAndWhetherBatchingPays) {
  script_.takes = [](std::uint32_t rows) { return 4ms + rows * 1ms; };
  auto m = loaded("max_batch_size: 6");
  EXPECT_TRUE(m.profiled);
  EXPECT_EQ(m.report.first_run, 5ms);
  EXPECT_EQ(m.report.one_row, 5ms);
  EXPECT_EQ(m.report.rows_max, 10ms);
  EXPECT_EQ(m.report.rows_warmed, 6u);
  EXPECT_EQ(m.report.batching_pays, true);
  for (const auto rows : {1u, 2u, 4u, 6u}) EXPECT_TRUE(m.service_time.measured(rows)) << rows;
  EXPECT_TRUE(m.report.notes.empty());

  script_.takes = [](std::uint32_t rows) { return rows * 5ms; };
  m = loaded("max_batch_size: 8");
  EXPECT_EQ(m.report.batching_pays, false);
  EXPECT_EQ(m.report.rows_warmed, 8u);  // the largest size is run even where batching does not pay
  EXPECT_TRUE(m.service_time.measured(8));

  m = loaded("max_batch_size: 1");
  EXPECT_EQ(m.report.batching_pays, std::nullopt);
}

TEST_F(Loader, TheBudgetBoundsTheWarmUp) {
  script_.takes = [](std::uint32_t rows) { return 100ms + rows * 100ms; };
  settings_.warm_budget = 2s;
  const auto start = time_.now();
  const auto m = loaded("max_batch_size: 1048576");
  EXPECT_LE(time_.now() - start, 178ms + 2s + 300ms);
  EXPECT_TRUE(m.profiled);
  EXPECT_LT(m.report.rows_warmed, 64u);
  ASSERT_EQ(m.report.notes.size(), 1u);
  EXPECT_EQ(m.config.scheduling.rows_max, 1048576u);
}

TEST_F(Loader, EveryInstanceIsWarmed) {
  loaded("max_batch_size: 4 instance_group { count: 3 }");
  ASSERT_EQ(script_.rows_by_instance.size(), 3u);
  EXPECT_EQ(script_.rows_by_instance[1], script_.rows_by_instance[2]);
  EXPECT_FALSE(script_.rows_by_instance[1].empty());
  EXPECT_EQ(script_.rows_by_instance[1].front(), 1u);
}

TEST_F(Loader, FreeDimensionsNeedAShapeToWarmWith) {
  script_.file.inputs = {spec("ids", DataType::kInt64, {-1, -1}),
                         spec("mask", DataType::kInt64, {-1, -1})};
  auto m = loaded("");
  EXPECT_FALSE(m.profiled);
  EXPECT_EQ(m.report.rows_warmed, 0u);
  ASSERT_EQ(m.report.notes.size(), 1u);
  EXPECT_NE(m.report.notes[0].find("input \"ids\" has free dims [-1]"), std::string::npos);
  EXPECT_TRUE(script_.rows_by_instance[0].empty());

  std::vector<Shape> seen;
  script_.answers = [&](const engine::Batch& batch) {
    seen = {batch.items[0].inputs[0].shape, batch.items[0].inputs[1].shape};
    return Unit{};
  };
  m = loaded("parameters { key: \"tauto.warmup_shape\" value { string_value: \"[128]\" } }");
  EXPECT_TRUE(m.profiled);
  EXPECT_EQ(seen, (std::vector<Shape>{{1, 128}, {1, 128}}));
  m = loaded(
      "parameters { key: \"tauto.warmup_shape\" "
      "value { string_value: \"ids=[7];mask=[9]\" } }");
  EXPECT_EQ(seen, (std::vector<Shape>{{1, 7}, {1, 9}}));
  m = loaded("parameters { key: \"tauto.warmup_shape\" value { string_value: \"[1,128]\" } }");
  EXPECT_FALSE(m.profiled);
  EXPECT_NE(m.report.notes.at(0).find("without the batch dimension"), std::string::npos);
}

std::string warmup(const std::string& input, const std::string& rest = "batch_size: 3") {
  return "max_batch_size: 8\n"
         "input { name: \"x\" data_type: TYPE_FP32 dims: 4 }\n"
         "output { name: \"y\" data_type: TYPE_FP32 dims: 2 }\n"
         "model_warmup { name: \"w\" " +
         rest + " inputs { key: \"x\" value { data_type: TYPE_FP32 dims: 4 " + input + " } } }";
}

TEST_F(Loader, WrittenWarmUpsRunFirstOnEveryInstance) {
  const float row[4] = {1, 2, 3, 4};
  write("r/m/warmup/raw", std::string(reinterpret_cast<const char*>(row), sizeof row));
  std::vector<float> first;
  script_.answers = [&](const engine::Batch& batch) {
    if (first.empty()) {
      first.resize(4);
      std::memcpy(first.data(), batch.items[2].inputs[0].bytes.data(), sizeof row);
    }
    return Unit{};
  };
  const auto m = loaded(warmup("input_data_file: \"raw\"", "batch_size: 3 count: 2") +
                        " instance_group { count: 2 }");
  EXPECT_EQ(first, (std::vector<float>{1, 2, 3, 4}));
  for (const auto& rows : script_.rows_by_instance) {
    ASSERT_GE(rows.size(), 3u);
    EXPECT_EQ(rows[0], 3u);
    EXPECT_EQ(rows[1], 3u);
    EXPECT_NE(rows[2], 3u);
  }
  EXPECT_TRUE(m.profiled);
}

TEST_F(Loader, AFailingWrittenWarmUpFailsTheLoad) {
  refused(warmup("input_data_file: \"absent\""), "warmup/absent: no such file");
  write("r/m/warmup/short", "1234");
  refused(warmup("input_data_file: \"short\""), "has 4 bytes, input \"x\" needs 16");
  script_.answers = [](const engine::Batch&) -> Status {
    return Error{Code::kInternal, "it hurts"};
  };
  refused(warmup("zero_data: true"), "model_warmup \"w\": it hurts");
}

TEST_F(Loader, AFailingMeasurementDoesNot) {
  script_.answers = [](const engine::Batch& batch) -> Status {
    if (batch.rows > 2) return Error{Code::kInternal, "too much"};
    return Unit{};
  };
  script_.takes = [](std::uint32_t) { return 2ms; };
  auto m = loaded("max_batch_size: 8");
  EXPECT_EQ(m.report.rows_warmed, 2u);
  ASSERT_EQ(m.report.notes.size(), 1u);
  EXPECT_NE(m.report.notes[0].find("too much"), std::string::npos);

  script_.answers = [](const engine::Batch&) -> Status { return Error{Code::kInternal, "no"}; };
  m = loaded("max_batch_size: 8");
  EXPECT_FALSE(m.profiled);
  EXPECT_EQ(m.report.rows_warmed, 0u);
}

TEST_F(Loader, WarmUpDataByType) {
  std::vector<std::vector<std::byte>> seen;
  script_.answers = [&](const engine::Batch& batch) {
    seen.clear();
    for (const auto& v : batch.items[0].inputs) seen.emplace_back(v.bytes.begin(), v.bytes.end());
    return Unit{};
  };
  script_.file.inputs = {spec("i", DataType::kInt64, {-1, 3}), spec("s", DataType::kBytes, {-1, 2}),
                         spec("h", DataType::kFp16, {-1, 2}), spec("f", DataType::kFp64, {-1, 2})};
  loaded("");
  ASSERT_EQ(seen.size(), 4u);
  EXPECT_EQ(seen[0], std::vector<std::byte>(24));  // zeros: safe as indexes
  EXPECT_EQ(seen[1], std::vector<std::byte>(8));   // two empty elements
  ASSERT_EQ(seen[2].size(), 4u);
  EXPECT_NE(seen[2], std::vector<std::byte>(4));
  ASSERT_EQ(seen[3].size(), 16u);
  double value = 0;
  std::memcpy(&value, seen[3].data(), sizeof value);
  EXPECT_TRUE(value > 0 && value <= 1);
}

TEST_F(Loader, RandomWarmUpData) {
  std::string bytes;
  script_.answers = [&](const engine::Batch& batch) {
    const auto& v = batch.items[0].inputs[0].bytes;
    bytes.assign(reinterpret_cast<const char*>(v.data()), v.size());
    return Unit{};
  };
  script_.file.inputs = {spec("s", DataType::kBytes, {-1, 2})};
  loaded(
      "max_batch_size: 2 input { name: \"s\" data_type: TYPE_STRING dims: 2 }\n"
      "output { name: \"y\" data_type: TYPE_FP32 dims: 2 }\n"
      "model_warmup { batch_size: 1 inputs { key: \"s\" value { data_type: TYPE_STRING dims: 2\n"
      "random_data: true } } }");
  ASSERT_EQ(bytes.size(), 24u);
  EXPECT_EQ(bytes.substr(0, 4), std::string("\x08\0\0\0", 4));
  write("r/m/warmup/bad", std::string("\x01\0\0\0aa", 6));
  refused(
      "max_batch_size: 2 input { name: \"s\" data_type: TYPE_STRING dims: 2 }\n"
      "output { name: \"y\" data_type: TYPE_FP32 dims: 2 }\n"
      "model_warmup { batch_size: 1 inputs { key: \"s\" value { data_type: TYPE_STRING dims: 2\n"
      "input_data_file: \"bad\" } } }",
      "does not hold 2 elements");
}

TEST_F(Loader, OptionalInputsStayAbsentWithoutAShape) {
  script_.file.inputs.push_back(spec("o", DataType::kInt8, {-1, -1}));
  DataType seen = DataType::kInt8;
  script_.answers = [&](const engine::Batch& batch) {
    seen = batch.items[0].inputs[1].type;
    return Unit{};
  };
  const auto m = loaded(
      "max_batch_size: 2\n"
      "input [ { name: \"x\" data_type: TYPE_FP32 dims: 4 },\n"
      "  { name: \"o\" data_type: TYPE_INT8 dims: -1 optional: true } ]\n"
      "output { name: \"y\" data_type: TYPE_FP32 dims: 2 }");
  EXPECT_TRUE(m.profiled);
  EXPECT_EQ(seen, DataType::kInvalid);
}

TEST_F(Loader, HugeShapesAreNotWarmed) {
  script_.file.inputs[0].dims = Shape{-1, 1 << 30, 64};
  const auto m = loaded("");
  EXPECT_FALSE(m.profiled);
  ASSERT_EQ(m.report.notes.size(), 1u);
  EXPECT_NE(m.report.notes[0].find("over 1 GiB"), std::string::npos);
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
