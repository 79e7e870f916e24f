#pragma once
// A fake engine with a model file, in manual time, and a model repository of one model.

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "model/loader.h"
#include "model/temp_dir_test_util.h"

namespace tauto::model {

using std::chrono_literals::operator""ms;

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

inline TensorSpec spec(const std::string& name, DataType type, Shape dims) {
  return {name, type, dims};
}

class LoaderTest : public TempDirTest {
 protected:
  LoaderTest() : fake_(script_, time_) {
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

}  // namespace tauto::model
