// Batches through ONNX Runtime: every type, dynamic shapes, gathering, slicing, strings, errors.
#include <gtest/gtest.h>

#include <random>

#include "engine/onnx/onnx_test_fixture.h"

namespace tauto::engine {
namespace {

using testing::mentions;
using testing::OnnxFile;
using testing::Requests;
using testing::values;
using Floats = std::vector<float>;

class OnnxRun : public testing::OnnxTest {};

/// y = x * w, w = [[1,2],[3,4],[5,6]]: output dims are known once the rows are.
OnnxFile matmul() {
  return OnnxFile()
      .constant<float>("w", testing::kOnnxFloat, {3, 2}, {1, 2, 3, 4, 5, 6})
      .node("MatMul", {"x", "w"}, {"y"})
      .input("x", testing::kOnnxFloat, {"batch", 3})
      .output("y", testing::kOnnxFloat, OnnxFile::Dims{"batch", 2});
}
const Signature kMatmul{{{"x", DataType::kFp32, {3}}}, {{"y", DataType::kFp32, {2}}}, 8};

/// sum = a + b, with free dims, and twice = concat(a, a): an output of free dims.
OnnxFile add() {
  return OnnxFile()
      .node("Add", {"a", "b"}, {"sum"})
      .node("Concat", {"a", "a"}, {"twice"}, {{"axis", 1}})
      .input("a", testing::kOnnxFloat, {"batch", "n"})
      .input("b", testing::kOnnxFloat, {"batch", "m"})
      .output("sum", testing::kOnnxFloat, OnnxFile::Dims{"batch", "n"})
      .output("twice", testing::kOnnxFloat, OnnxFile::Dims{"batch", "n2"});
}
const Signature kAdd{{{"a", DataType::kFp32, {-1}}, {"b", DataType::kFp32, {-1}}},
                     {{"sum", DataType::kFp32, {-1}}, {"twice", DataType::kFp32, {-1}}},
                     16};

struct TypeCase {
  testing::OnnxType onnx;
  DataType ours;
};
constexpr TypeCase kTypes[] = {
    {testing::kOnnxFloat, DataType::kFp32},    {testing::kOnnxUint8, DataType::kUint8},
    {testing::kOnnxInt8, DataType::kInt8},     {testing::kOnnxUint16, DataType::kUint16},
    {testing::kOnnxInt16, DataType::kInt16},   {testing::kOnnxInt32, DataType::kInt32},
    {testing::kOnnxInt64, DataType::kInt64},   {testing::kOnnxString, DataType::kBytes},
    {testing::kOnnxBool, DataType::kBool},     {testing::kOnnxFloat16, DataType::kFp16},
    {testing::kOnnxDouble, DataType::kFp64},   {testing::kOnnxUint32, DataType::kUint32},
    {testing::kOnnxUint64, DataType::kUint64}, {testing::kOnnxBfloat16, DataType::kBf16}};

TEST_F(OnnxRun, CarriesEveryTypeAloneAndBatched) {
  static_assert(std::size(kTypes) == kDataTypeCount - 1);
  for (const auto& [onnx, ours] : kTypes) {
    SCOPED_TRACE(protocol_name(ours));
    open(OnnxFile()
             .node("Identity", {"x"}, {"y"})
             .input("x", onnx, {"batch", "n"})
             .output("y", onnx, OnnxFile::Dims{"batch", "n"}),
         {{{"x", ours, {-1}}}, {{"y", ours, {-1}}}, 4});
    EXPECT_EQ(model_->description().inputs[0].type, ours);
    const bool strings = ours == DataType::kBytes;
    const auto content = [strings, type = ours](std::size_t elements, char c) {
      if (!strings) return std::string(elements * byte_size(type), c);
      return testing::bytes_tensor(std::vector<std::string>(elements, std::string(3, c)));
    };
    Requests both;
    both.request(2).add_raw(ours, {2, 3}, content(6, 1));
    both.request(1).add_raw(ours, {1, 3}, content(3, 0));
    run(both);
    EXPECT_EQ(testing::text_of(out_.view(0, 0)), content(6, 1));
    EXPECT_EQ(testing::text_of(out_.view(1, 0)), content(3, 0));
    EXPECT_EQ(out_.view(1, 0).type, ours);
    EXPECT_EQ(out_.view(1, 0).shape, (Shape{1, 3}));
    Requests alone;
    alone.request(1).add_raw(ours, {1, 2}, content(2, 1));
    run(alone);
    EXPECT_EQ(testing::text_of(out_.view(0, 0)), content(2, 1));
  }
}

TEST_F(OnnxRun, WritesOutputsOfKnownShapeIntoTheBatchsBuffers) {
  open(matmul(), kMatmul);
  Requests requests;
  requests.request(1).add<float>({1, 3}, {1, 0, 0});
  requests.request(2).add<float>({2, 3}, {0, 1, 0, 1, 1, 1});
  run(requests);
  EXPECT_EQ(values<float>(out_.view(0, 0)), (Floats{1, 2}));
  EXPECT_EQ(values<float>(out_.view(1, 0)), (Floats{3, 4, 9, 12}));
  EXPECT_EQ(out_.view(1, 0).shape, (Shape{2, 2}));
  EXPECT_EQ(out_.view(0, 0).bytes.data(), out_.buffer(0).data());
  EXPECT_EQ(out_.keep_alive, nullptr);
}

TEST_F(OnnxRun, ViewsOutputsOfUnknownShapeInPlace) {
  open(add(), kAdd);
  Requests requests;
  requests.request(1).add<float>({1, 2}, {1, 2}).add<float>({1, 2}, {10, 20});
  requests.request(1).add<float>({1, 2}, {3, 4}).add<float>({1, 2}, {30, 40});
  run(requests);
  EXPECT_EQ(values<float>(out_.view(0, 0)), (Floats{11, 22}));
  EXPECT_EQ(values<float>(out_.view(1, 1)), (Floats{3, 4, 3, 4}));
  EXPECT_EQ(out_.view(1, 1).shape, (Shape{1, 4}));
  EXPECT_EQ(out_.view(0, 1).bytes.data() + out_.view(0, 1).bytes.size(),
            out_.view(1, 1).bytes.data());
  EXPECT_NE(out_.keep_alive, nullptr);

  // The views outlive the instance and the model, as an answer under way may.
  instance_.reset();
  model_.reset();
  engine_.reset();
  EXPECT_EQ(values<float>(out_.view(1, 0)), (Floats{33, 44}));
}

TEST_F(OnnxRun, ABatchGivesWhatItsRequestsGiveAlone) {
  open(add(), kAdd);
  std::mt19937_64 random(7);
  for (int round = 0; round < 50; ++round) {
    const auto width = static_cast<std::int64_t>(1 + random() % 9);
    const std::size_t members = 1 + random() % 5;
    Requests together;
    std::vector<Requests> alone(members);
    for (std::size_t i = 0; i < members; ++i) {
      const auto rows = static_cast<std::uint32_t>(1 + random() % 3);
      const std::size_t shift = random() % 5;
      together.request(rows).shift(shift);
      alone[i].request(rows);
      for (int input = 0; input < 2; ++input) {
        Floats data(static_cast<std::size_t>(rows * width));
        for (auto& v : data) v = static_cast<float>(random() % 1000);
        together.add<float>({rows, width}, data);
        alone[i].add<float>({rows, width}, data);
      }
    }
    run(together);
    BatchOutput batched = std::move(out_);
    out_ = BatchOutput{};
    for (std::size_t i = 0; i < members; ++i) {
      run(alone[i]);
      for (std::size_t o = 0; o < 2; ++o) {
        ASSERT_EQ(values<float>(out_.view(0, o)), values<float>(batched.view(i, o)));
        ASSERT_EQ(out_.view(0, o).shape, batched.view(i, o).shape);
      }
    }
  }
}

TEST_F(OnnxRun, TakesMisalignedViews) {
  open(matmul(), kMatmul);
  for (const std::size_t shift : {1u, 2u, 3u, 4u, 13u}) {
    Requests requests;
    requests.shift(shift).request(1).add<float>({1, 3}, {1, 1, 1});
    run(requests);
    EXPECT_EQ(values<float>(out_.view(0, 0)), (Floats{9, 12})) << shift;
  }
}

TEST_F(OnnxRun, RunsOnlyTheOutputsWanted) {
  open(add(), kAdd);
  Requests requests;
  requests.request(1).add<float>({1, 1}, {1}).add<float>({1, 1}, {2});
  auto batch = requests.batch();
  batch.outputs_wanted = 0b10;
  ASSERT_TRUE(instance_->run(batch, out_, times_).ok());
  EXPECT_EQ(out_.view(0, 0).type, DataType::kInvalid);
  EXPECT_EQ(values<float>(out_.view(0, 1)), (Floats{1, 1}));
  batch.outputs_wanted = 0;
  EXPECT_TRUE(instance_->run(batch, out_, times_).ok());
}

TEST_F(OnnxRun, RunsModelsWithoutBatchDimension) {
  open(OnnxFile()
           .node("Add", {"a", "s"}, {"y"})
           .input("a", testing::kOnnxInt64, {2, 2})
           .input("s", testing::kOnnxInt64, {})
           .output("y", testing::kOnnxInt64, OnnxFile::Dims{2, 2}),
       {{{"a", DataType::kInt64, {2, 2}}, {"s", DataType::kInt64, {}}},
        {{"y", DataType::kInt64, {2, 2}}},
        0});
  Requests requests;
  requests.request(1).add<std::int64_t>({2, 2}, {1, 2, 3, 4}).add<std::int64_t>({}, {10});
  run(requests);
  EXPECT_EQ(values<std::int64_t>(out_.view(0, 0)), (std::vector<std::int64_t>{11, 12, 13, 14}));
  EXPECT_EQ(out_.view(0, 0).shape, (Shape{2, 2}));
}

TEST_F(OnnxRun, TakesEmptyTensors) {
  open(add(), kAdd);
  Requests requests;
  requests.request(2).add<float>({2, 0}, {}).add<float>({2, 0}, {});
  run(requests);
  EXPECT_EQ(out_.view(0, 1).shape, (Shape{2, 0}));
  EXPECT_TRUE(out_.view(0, 1).bytes.empty());
}

TEST_F(OnnxRun, ReadsOutputsThatTheFileDoesNotDescribe) {
  open(OnnxFile()
           .node("Concat", {"x", "x"}, {"y"}, {{"axis", 1}})
           .input("x", testing::kOnnxInt32, {"batch", 2})
           .output("y", testing::kOnnxInt32, std::nullopt),
       {{{"x", DataType::kInt32, {2}}}, {{"y", DataType::kInt32, {4}}}, 4});
  Requests requests;
  requests.request(1).add<std::int32_t>({1, 2}, {1, 2});
  run(requests);
  EXPECT_EQ(values<std::int32_t>(out_.view(0, 0)), (std::vector<std::int32_t>{1, 2, 1, 2}));
}

TEST_F(OnnxRun, SaysWhenTheModelGivesAnotherShapeThanItsConfig) {
  open(add(), {kAdd.inputs, {{"sum", DataType::kFp32, {-1}}, {"twice", DataType::kFp32, {3}}}, 4});
  for (int i = 0; i < 2; ++i) {
    Requests wrong;
    wrong.request(1).add<float>({1, 2}, {1, 2}).add<float>({1, 2}, {1, 2});
    const Error error = run_error(wrong);
    EXPECT_EQ(error.code, Code::kInternal);
    EXPECT_EQ(error.message,
              "output 'twice': the model gave [1,4], the config says [1,3] (with 1 rows)");
  }
  // Rows that come out as something else than rows.
  open(OnnxFile()
           .node("Transpose", {"x"}, {"y"})
           .input("x", testing::kOnnxFloat, {"batch", 2})
           .output("y", testing::kOnnxFloat, OnnxFile::Dims{"p", "q"}),
       {{{"x", DataType::kFp32, {2}}}, {{"y", DataType::kFp32, {-1}}}, 4});
  Requests requests;
  requests.request(3).add<float>({3, 2}, Floats(6, 1.f));
  EXPECT_TRUE(mentions(run_error(requests).message, "the model gave [2,3]"));
}

TEST_F(OnnxRun, StringsKeepTheirBytes) {
  open(OnnxFile()
           .node("Concat", {"x", "x"}, {"y"}, {{"axis", 1}})
           .input("x", testing::kOnnxString, {"batch", 2})
           .output("y", testing::kOnnxString, OnnxFile::Dims{"batch", 4}),
       {{{"x", DataType::kBytes, {2}}}, {{"y", DataType::kBytes, {4}}}, 4});
  const std::string zero("a\0b", 3);
  Requests requests;
  requests.request(1).add_raw(DataType::kBytes, {1, 2}, testing::bytes_tensor({zero, ""}));
  requests.request(1).add_raw(DataType::kBytes, {1, 2},
                              testing::bytes_tensor({"\xff\xfe", "long one"}));
  run(requests);
  EXPECT_EQ(testing::text_of(out_.view(0, 0)), testing::bytes_tensor({zero, "", zero, ""}));
  EXPECT_EQ(testing::text_of(out_.view(1, 0)),
            testing::bytes_tensor({"\xff\xfe", "long one", "\xff\xfe", "long one"}));

  const std::string good = testing::bytes_tensor({"ab", "c"});
  const std::pair<std::string, const char*> bad[] = {
      {good.substr(0, good.size() - 1), "cut short"},
      {good + testing::bytes_tensor({"x"}), "more strings"},
      {testing::bytes_tensor({"only one"}), "fewer strings"},
      {"abc", "cannot hold"},
      {std::string("\xff\xff\xff\xff\0\0\0\0", 8), "cut short"}};
  for (const auto& [bytes, why] : bad) {
    Requests one;
    one.request(1).add_raw(DataType::kBytes, {1, 2}, bytes);
    const Error error = run_error(one);
    EXPECT_EQ(error.code, Code::kInvalidArgument);
    EXPECT_TRUE(mentions(error.message, why)) << error.message;
    EXPECT_TRUE(mentions(error.message, "input 'x'")) << error.message;
  }
}

TEST_F(OnnxRun, RefusesInputsThatCannotRun) {
  open(add(), kAdd);
  struct Case {
    Requests requests;
    const char* why;
  };
  std::vector<Case> cases(5);
  cases[0].requests.request(1).add<float>({1, 2}, {1, 2}).add<std::int64_t>({1, 2}, {1, 2});
  cases[0].why = "got INT64, expected FP32";
  cases[1].requests.request(1).add<float>({1, 3}, {1, 2}).add<float>({1, 2}, {1, 2});
  cases[1].why = "8 bytes do not hold FP32[1,3]";
  cases[2].requests.request(2).add<float>({1, 2}, {1, 2}).add<float>({1, 2}, {1, 2});
  cases[2].why = "for 2 rows";
  cases[3].requests.request(1).add<float>({1, 2}, {1, 2}).add<float>({1, 2}, {1, 2});
  cases[3].requests.request(1).add<float>({1, 1}, {1}).add<float>({1, 1}, {1});
  cases[3].why = "cannot share a batch";
  cases[4].requests.request(1).add<float>({1, 2}, {1, 2}).add<float>({1, 3}, {1, 2, 3});
  cases[4].why = "broadcast";
  for (auto& c : cases) {
    const Error error = run_error(c.requests);
    EXPECT_EQ(error.code, Code::kInvalidArgument) << error.message;
    EXPECT_TRUE(mentions(error.message, c.why)) << error.message;
  }
  Requests good;  // and it goes on working
  good.request(1).add<float>({1, 2}, {1, 2}).add<float>({1, 2}, {1, 2});
  run(good);
}

TEST_F(OnnxRun, AnInputMayBeLeftOutWhereTheFileHasADefault) {
  open(OnnxFile()
           .constant<float>("bias", testing::kOnnxFloat, {2}, {100, 200})
           .node("Add", {"x", "bias"}, {"y"})
           .input("x", testing::kOnnxFloat, {"batch", 2})
           .input("bias", testing::kOnnxFloat, {2})
           .output("y", testing::kOnnxFloat, OnnxFile::Dims{"batch", 2}),
       {{{"x", DataType::kFp32, {2}}}, {{"y", DataType::kFp32, {2}}}, 4});
  EXPECT_EQ(model_->description().inputs.size(), 1u);
  Requests without;
  without.request(1).add<float>({1, 2}, {1, 2});
  run(without);
  EXPECT_EQ(values<float>(out_.view(0, 0)), (Floats{101, 202}));

  auto instance =
      model_->make_instance({{{"x", DataType::kFp32, {2}}, {"bias", DataType::kFp32, {2}}},
                             {{"y", DataType::kFp32, {2}}},
                             0});
  ASSERT_FALSE(instance.ok());  // x has a batch dimension that this signature lacks
  EXPECT_TRUE(mentions(instance.error().message, "input 'x'"));
}

TEST_F(OnnxRun, InstancesOfOneModelRunAtTheSameTime) {
  open(matmul(), kMatmul);
  auto other = model_->make_instance(kMatmul);
  ASSERT_TRUE(other.ok());
  BatchOutput out;
  Requests mine, theirs;
  mine.request(1).add<float>({1, 3}, {1, 0, 0});
  theirs.request(1).add<float>({1, 3}, {0, 0, 1});
  run(mine);
  ASSERT_TRUE(other.value()->run(theirs.batch(), out, times_).ok());
  EXPECT_EQ(values<float>(out_.view(0, 0)), (Floats{1, 2}));
  EXPECT_EQ(values<float>(out.view(0, 0)), (Floats{5, 6}));
}

}  // namespace
}  // namespace tauto::engine
