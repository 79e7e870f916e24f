#include "model/warmup.h"

#include <gtest/gtest.h>

#include <cstring>

#include "model/loader_test_util.h"

namespace tauto::model {
namespace {

using namespace std::chrono_literals;

class WarmUp : public LoaderTest {};

TEST_F(WarmUp, MeasuresServiceTimeAndWhetherBatchingPays) {
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

TEST_F(WarmUp, TheBudgetBoundsTheWarmUp) {
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

TEST_F(WarmUp, EveryInstanceIsWarmed) {
  loaded("max_batch_size: 4 instance_group { count: 3 }");
  ASSERT_EQ(script_.rows_by_instance.size(), 3u);
  EXPECT_EQ(script_.rows_by_instance[1], script_.rows_by_instance[2]);
  EXPECT_FALSE(script_.rows_by_instance[1].empty());
  EXPECT_EQ(script_.rows_by_instance[1].front(), 1u);
}

TEST_F(WarmUp, FreeDimensionsNeedAShapeToWarmWith) {
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

TEST_F(WarmUp, WrittenWarmUpsRunFirstOnEveryInstance) {
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

TEST_F(WarmUp, AFailingWrittenWarmUpFailsTheLoad) {
  refused(warmup("input_data_file: \"absent\""), "warmup/absent: no such file");
  write("r/m/warmup/short", "1234");
  refused(warmup("input_data_file: \"short\""), "has 4 bytes, input \"x\" needs 16");
  script_.answers = [](const engine::Batch&) -> Status {
    return Error{Code::kInternal, "it hurts"};
  };
  refused(warmup("zero_data: true"), "model_warmup \"w\": it hurts");
}

TEST_F(WarmUp, AFailingMeasurementDoesNot) {
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

TEST_F(WarmUp, WarmUpDataByType) {
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

TEST_F(WarmUp, RandomWarmUpData) {
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

TEST_F(WarmUp, OptionalInputsStayAbsentWithoutAShape) {
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

TEST_F(WarmUp, HugeShapesAreNotWarmed) {
  script_.file.inputs[0].dims = Shape{-1, 1 << 30, 64};
  const auto m = loaded("");
  EXPECT_FALSE(m.profiled);
  ASSERT_EQ(m.report.notes.size(), 1u);
  EXPECT_NE(m.report.notes[0].find("over 1 GiB"), std::string::npos);
}

}  // namespace
}  // namespace tauto::model
