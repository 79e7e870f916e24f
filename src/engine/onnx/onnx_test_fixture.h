#pragma once
// Finds ONNX Runtime, or says why the test is skipped; writes, loads and runs small models.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "engine/engine_test_util.h"
#include "engine/onnx/onnx_engine.h"
#include "engine/onnx/onnx_test_models.h"

#if defined(__SANITIZE_THREAD__)
#define TAUTO_UNDER_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TAUTO_UNDER_TSAN 1
#endif
#endif

namespace tauto::engine::testing {

/// TAUTO_ORT_LIBRARY in the environment, else what CMake found; "" = none.
inline std::string onnx_library() {
  if (const char* named = std::getenv("TAUTO_ORT_LIBRARY")) return named;
  const std::string found = TAUTO_TEST_ONNXRUNTIME;
  return std::filesystem::exists(found) ? found : "";
}

class OnnxTest : public ::testing::Test {
 protected:
  void SetUp() override {
#ifdef TAUTO_UNDER_TSAN
    GTEST_SKIP() << "ONNX Runtime is not built for ThreadSanitizer";
#endif
#ifndef TAUTO_TEST_WITH_ONNX
    GTEST_SKIP() << "built without ONNX Runtime's headers";
#endif
    if (onnx_library().empty()) GTEST_SKIP() << "no ONNX Runtime library; ./dev setup fetches it";
    engine_ = make_onnx_engine({.library_path = onnx_library()}, time_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string write(const OnnxFile& file, const std::string& name = "model.onnx") {
    std::filesystem::create_directories(folder_);
    file.write((folder_ / name).string());
    return (folder_ / name).string();
  }
  Result<std::unique_ptr<Model>> load(const OnnxFile& file,
                                      const std::map<std::string, std::string>& parameters = {}) {
    LoadOptions options;
    options.model_path = write(file);
    options.parameters = parameters;
    return engine_->load(options);
  }
  /// Loads and makes an instance; both must succeed.
  void open(const OnnxFile& file, const Signature& signature) {
    auto model = load(file);
    ASSERT_TRUE(model.ok()) << model.error().message;
    model_ = std::move(model).value();
    auto instance = model_->make_instance(signature);
    ASSERT_TRUE(instance.ok()) << instance.error().message;
    instance_ = std::move(instance).value();
  }
  std::string signature_error(const OnnxFile& file, const Signature& signature) {
    auto model = load(file);
    EXPECT_TRUE(model.ok());
    if (!model.ok()) return model.error().message;
    auto instance = model.value()->make_instance(signature);
    if (instance.ok()) return "accepted";
    EXPECT_EQ(instance.error().code, Code::kInvalidArgument);
    return instance.error().message;
  }
  void run(Requests& requests) {
    const Status status = instance_->run(requests.batch(), out_, times_);
    ASSERT_TRUE(status.ok()) << status.error().message;
    expect_ordered(times_);
  }
  Error run_error(Requests& requests) {
    const Status status = instance_->run(requests.batch(), out_, times_);
    EXPECT_FALSE(status.ok());
    return status.ok() ? Error{Code::kNotFound, "it ran"} : status.error();
  }

  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() /
      ("tauto_onnx_test_" + std::to_string(::getpid()) + "_" +
       ::testing::UnitTest::GetInstance()->current_test_info()->name());
  RealTime time_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Model> model_;
  std::unique_ptr<Instance> instance_;
  BatchOutput out_;
  BatchTimes times_{};
};

inline bool mentions(const std::string& message, std::string_view what) {
  return message.find(what) != std::string::npos;
}

}  // namespace tauto::engine::testing
