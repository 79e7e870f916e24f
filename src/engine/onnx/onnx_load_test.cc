// Opening the library, loading files, what they say about themselves, parameters, signatures.
#include <gtest/gtest.h>

#include "engine/onnx/onnx_test_fixture.h"

namespace tauto::engine {
namespace {

using testing::mentions;
using testing::OnnxFile;

class OnnxLoad : public testing::OnnxTest {
 protected:
  OnnxFile identity() {
    return OnnxFile()
        .node("Identity", {"x"}, {"y"})
        .input("x", testing::kOnnxFloat, {"batch", 3, "n"})
        .output("y", testing::kOnnxFloat, OnnxFile::Dims{"batch", 3, "n"});
  }
  std::string refusal(const std::map<std::string, std::string>& parameters) {
    const auto model = load(identity(), parameters);
    if (model.ok()) return "accepted";
    EXPECT_EQ(model.error().code, Code::kInvalidArgument);
    return model.error().message;
  }
  Error load_error(OnnxOptions options) {
    engine_ = make_onnx_engine(std::move(options), time_);
    const auto model = load(identity());
    EXPECT_FALSE(model.ok());
    return model.ok() ? Error{Code::kNotFound, "it loaded"} : model.error();
  }
};

TEST_F(OnnxLoad, DescribesTheFile) {
  auto model = load(identity());
  ASSERT_TRUE(model.ok()) << model.error().message;
  const auto& description = model.value()->description();
  ASSERT_EQ(description.inputs.size(), 1u);
  EXPECT_EQ(description.inputs[0].name, "x");
  EXPECT_EQ(description.inputs[0].type, DataType::kFp32);
  EXPECT_EQ(description.inputs[0].dims, (Shape{-1, 3, -1}));
  EXPECT_EQ(description.outputs[0].name, "y");
  EXPECT_EQ(model.value()->memory_bytes(), identity().model().size());
  EXPECT_EQ(engine_->name(), "onnx");
  EXPECT_TRUE(mentions(engine_->version(), "1."));
}

TEST_F(OnnxLoad, AModelMayBeAFolder) {
  const std::string file = write(identity());
  LoadOptions options;
  options.model_path = folder_.string();
  EXPECT_TRUE(engine_->load(options).ok());
  std::filesystem::remove(file);
  const auto empty = engine_->load(options);
  ASSERT_FALSE(empty.ok());
  EXPECT_EQ(empty.error().code, Code::kNotFound);
}

TEST_F(OnnxLoad, ABrokenFileIsAnErrorThatNamesIt) {
  const std::string file = write(identity());
  const std::string whole = identity().model();
  const std::string contents[] = {"", "not a model", whole.substr(0, whole.size() - 9)};
  for (const auto& content : contents) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << content;
    LoadOptions options;
    options.model_path = file;
    const auto model = engine_->load(options);
    ASSERT_FALSE(model.ok());
    EXPECT_TRUE(mentions(model.error().message, file)) << model.error().message;
  }
  const auto unknown = load(OnnxFile()
                                .node("NoSuchOperator", {"x"}, {"y"})
                                .input("x", testing::kOnnxFloat, {1})
                                .output("y", testing::kOnnxFloat, OnnxFile::Dims{1}));
  ASSERT_FALSE(unknown.ok());
  EXPECT_TRUE(mentions(unknown.error().message, "NoSuchOperator")) << unknown.error().message;
  EXPECT_TRUE(load(identity()).ok());
}

TEST_F(OnnxLoad, AMissingLibraryIsOneClearLine) {
  const Error missing = load_error({.library_path = "/nowhere/libonnxruntime.so"});
  EXPECT_EQ(missing.code, Code::kUnavailable);
  EXPECT_TRUE(mentions(missing.message, "/nowhere/libonnxruntime.so")) << missing.message;
  EXPECT_TRUE(mentions(missing.message, "./dev setup")) << missing.message;
  EXPECT_EQ(missing.message.find('\n'), std::string::npos);
  EXPECT_EQ(engine_->version(), "");
}

TEST_F(OnnxLoad, ATooOldLibraryIsOneClearLine) {
  const Error old = load_error({.library_path = TAUTO_TEST_OLD_ONNXRUNTIME});
  EXPECT_EQ(old.code, Code::kUnavailable);
  EXPECT_TRUE(mentions(old.message, "is ONNX Runtime 1.10.0, too old")) << old.message;
  EXPECT_EQ(old.message.find('\n'), std::string::npos);
}

TEST_F(OnnxLoad, AnotherLibraryIsToldApart) {
  EXPECT_TRUE(mentions(load_error({.library_path = "libm.so.6"}).message, "is not ONNX Runtime"));
}

TEST_F(OnnxLoad, CandidatesAreTriedInOrder) {
  engine_ = make_onnx_engine(
      {.candidates = {"/nowhere/a.so", TAUTO_TEST_OLD_ONNXRUNTIME, testing::onnx_library()}},
      time_);
  const auto model = load(identity());
  EXPECT_TRUE(model.ok()) << model.error().message;
}

TEST_F(OnnxLoad, TakesTheParametersOfTritonsBackend) {
  const std::map<std::string, std::string> all = {
      {"intra_op_thread_count", "2"},
      {"inter_op_thread_count", "1"},
      {"execution_mode", "1"},
      {"enable_mem_arena", "0"},
      {"enable_mem_pattern", "0"},
      {"session.use_device_allocator_for_initializers", "1"},
      {"session.set_denormal_as_zero", "1"},
      {"cudnn_conv_algo_search", "1"},
      {"gpu_mem_limit", "1000000"},
      {"arena_extend_strategy", "0"},
      {"do_copy_in_default_stream", "1"},
      {"tauto.deadline", "10ms"}};
  for (const std::string mode : {"0", "1"}) {
    auto parameters = all;
    parameters["execution_mode"] = mode;
    const auto model = load(identity(), parameters);
    ASSERT_TRUE(model.ok()) << model.error().message;
  }
  auto model = load(identity(), {{"memory.enable_memory_arena_shrinkage", "cpu:0"}});
  ASSERT_TRUE(model.ok()) << model.error().message;
  const Signature signature{
      {{"x", DataType::kFp32, {3, -1}}}, {{"y", DataType::kFp32, {3, -1}}}, 8};
  auto instance = model.value()->make_instance(signature);
  ASSERT_TRUE(instance.ok());
  testing::Requests requests;
  requests.request(1).add<float>({1, 3, 1}, {1, 2, 3});
  EXPECT_TRUE(instance.value()->run(requests.batch(), out_, times_).ok());
}

TEST_F(OnnxLoad, RefusesParametersByName) {
  EXPECT_EQ(
      refusal({{"intra_op_thread_cound", "1"}}),
      "parameter 'intra_op_thread_cound': the onnx engine has no such parameter; did you mean "
      "'intra_op_thread_count'?");
  EXPECT_EQ(refusal({{"zzz", "1"}}), "parameter 'zzz': the onnx engine has no such parameter");
  EXPECT_TRUE(mentions(refusal({{"execution_mode", "2"}}), "'execution_mode'"));
  EXPECT_TRUE(mentions(refusal({{"intra_op_thread_count", "-1"}}), "'intra_op_thread_count'"));
  EXPECT_TRUE(mentions(refusal({{"enable_mem_arena", "true"}}), "'enable_mem_arena'"));
}

TEST_F(OnnxLoad, EveryGraphLevelLoads) {
  for (const int level : {-1, 0, 1, 2, 99}) {
    LoadOptions options;
    options.model_path = write(identity());
    options.graph_level = level;
    options.spin = level == 0;
    options.threads = 2;
    EXPECT_TRUE(engine_->load(options).ok()) << level;
  }
}

TEST_F(OnnxLoad, OneThreadPoolForAllModels) {
  engine_ = make_onnx_engine({.library_path = testing::onnx_library(), .global_threads = 2}, time_);
  const auto shared = load(identity());
  EXPECT_TRUE(shared.ok()) << shared.error().message;
  const auto own = load(identity(), {{"intra_op_thread_count", "1"}});
  EXPECT_TRUE(own.ok()) << own.error().message;
}

TEST_F(OnnxLoad, SignatureErrorsSayWhatTheFileHas) {
  const TensorSpec x{"x", DataType::kFp32, {3, -1}};
  const TensorSpec y{"y", DataType::kFp32, {3, -1}};
  EXPECT_EQ(signature_error(identity(), {{x}, {y}, 8}), "accepted");
  EXPECT_EQ(signature_error(identity(), {{{"x", DataType::kFp32, {3, 7}}}, {y}, 8}), "accepted");
  EXPECT_EQ(signature_error(
                identity(),
                {{{"x", DataType::kFp32, {-1, 3, -1}}}, {{"y", DataType::kFp32, {-1, 3, -1}}}, 0}),
            "accepted");
  EXPECT_EQ(signature_error(identity(), {{{"x", DataType::kInt64, {3, -1}}}, {y}, 8}),
            "input 'x': the model file has FP32[-1,3,-1], the config says INT64[-1,3,-1] (with its "
            "batch dimension)");
  EXPECT_EQ(signature_error(identity(), {{{"x", DataType::kFp32, {4, -1}}}, {y}, 8}),
            "input 'x': the model file has FP32[-1,3,-1], the config says FP32[-1,4,-1] (with its "
            "batch dimension)");
  EXPECT_EQ(signature_error(identity(), {{x}, {y}, 0}),
            "input 'x': the model file has FP32[-1,3,-1], the config says FP32[3,-1]");
  EXPECT_EQ(signature_error(identity(), {{x, {"z", DataType::kFp32, {1}}}, {y}, 8}),
            "the model file has no input 'z'; it has 'x'");
  EXPECT_EQ(signature_error(identity(), {{x}, {{"w", DataType::kFp32, {3}}}, 8}),
            "the model file has no output 'w'; it has 'y'");
  EXPECT_EQ(signature_error(identity(), {{}, {y}, 8}),
            "the model file needs input 'x' FP32[-1,3,-1], which the config lacks");
  EXPECT_EQ(signature_error(identity(), {{x}, {}, 8}), "the config names no output");
  const auto fixed = OnnxFile()
                         .node("Identity", {"x"}, {"y"})
                         .input("x", testing::kOnnxFloat, {1, 3})
                         .output("y", testing::kOnnxFloat, OnnxFile::Dims{1, 3});
  EXPECT_TRUE(mentions(
      signature_error(fixed, {{{"x", DataType::kFp32, {3}}}, {{"y", DataType::kFp32, {3}}}, 8}),
      "needs max_batch_size: 0"));
}

TEST_F(OnnxLoad, WhatIsNoTensorIsRefusedUnlessTheConfigPassesItOver) {
  const auto file = OnnxFile()
                        .node("SequenceConstruct", {"x"}, {"s"})
                        .node("Identity", {"x"}, {"y"})
                        .input("x", testing::kOnnxFloat, {"batch", 2})
                        .output("y", testing::kOnnxFloat, OnnxFile::Dims{"batch", 2})
                        .sequence_output("s", testing::kOnnxFloat);
  const auto refused = load(file);
  ASSERT_FALSE(refused.ok());
  EXPECT_TRUE(mentions(refused.error().message, "output 's' is no tensor"))
      << refused.error().message;
  LoadOptions options;
  options.model_path = write(file);
  options.declared.outputs = {{"y", DataType::kFp32, {2}}};
  const auto model = engine_->load(options);
  ASSERT_TRUE(model.ok()) << model.error().message;
  EXPECT_EQ(model.value()->description().outputs.size(), 1u);
}

TEST(OnnxAbsent, ABuildWithoutHeadersSaysSo) {
#ifdef TAUTO_TEST_WITH_ONNX
  GTEST_SKIP() << "built with ONNX Runtime's headers";
#else
  testing::RealTime time;
  const auto engine = make_onnx_engine({}, time);
  const auto model = engine->load({});
  ASSERT_FALSE(model.ok());
  EXPECT_EQ(model.error().code, Code::kUnavailable);
  EXPECT_TRUE(mentions(model.error().message, "./dev setup"));
#endif
}

}  // namespace
}  // namespace tauto::engine
