#include "wire/infer_response.h"

#include <gtest/gtest.h>

#include <cfloat>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>

#include "wire/infer_body_test.h"

namespace tauto::wire {
namespace {

template <class T>
std::span<const std::byte> bytes_of(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}
std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

class InferResponseTest : public ::testing::Test {
 protected:
  std::string write(const InferResponse& response) {
    std::string json;
    binary_.clear();
    const auto status = write_infer_response(response, json, binary_);
    EXPECT_TRUE(status.ok()) << status.error().message;
    return json;
  }
  /// The `data` of one output.
  std::string data(DataType type, Shape shape, std::span<const std::byte> bytes) {
    const InferOutput output{"o", {type, shape, bytes}, false};
    const std::string json =
        write({.model_name = "m", .model_version = "1", .outputs = {&output, 1}});
    const auto start = json.find("\"data\":");
    if (start == std::string::npos) return json;
    return json.substr(start + 7, json.size() - start - 7 - 3);
  }
  Error error(DataType type, Shape shape, std::span<const std::byte> bytes) {
    const std::vector<float> good{1};
    const std::vector<InferOutput> outputs{{"good", {DataType::kFp32, {1}, bytes_of(good)}, true},
                                           {"o", {type, shape, bytes}, false}};
    std::string json = "before";
    binary_.clear();
    const auto status = write_infer_response(
        {.model_name = "m", .model_version = "1", .outputs = outputs}, json, binary_);
    EXPECT_EQ(json, "before");
    EXPECT_TRUE(binary_.empty());
    return status.ok() ? Error{Code::kInternal, "no error"} : status.error();
  }
  std::vector<std::span<const std::byte>> binary_;
};

TEST_F(InferResponseTest, AsTritonWritesIt) {
  const std::vector<float> floats{0, 1, 2};
  const InferOutput output{"OUTPUT0", {DataType::kFp32, {1, 3}, bytes_of(floats)}, false};
  EXPECT_EQ(write({.id = "my \"id\"",
                   .model_name = "identity_fp32",
                   .model_version = "1",
                   .outputs = {&output, 1}}),
            R"({"id":"my \"id\"","model_name":"identity_fp32","model_version":"1","outputs":[)"
            R"({"name":"OUTPUT0","datatype":"FP32","shape":[1,3],"data":[0.0,1.0,2.0]}]})");
  EXPECT_TRUE(binary_.empty());
}

TEST_F(InferResponseTest, BinaryAndParameters) {
  const std::vector<float> floats{0, 1, 2, 3};
  const std::vector<std::int16_t> shorts{-1, 2};
  const std::vector<InferOutput> outputs{{"a", {DataType::kFp32, {4}, bytes_of(floats)}, true},
                                         {"b", {DataType::kInt16, {2}, bytes_of(shorts)}, false},
                                         {"c", {DataType::kBf16, {2, 1}, bytes_of(shorts)}, true}};
  const std::vector<Parameter> parameters{{"s", std::string_view("x")},
                                          {"b", true},
                                          {"i", std::int64_t{-5}},
                                          {"u", UINT64_MAX},
                                          {"d", 1.5}};
  EXPECT_EQ(
      write(
          {.model_name = "m", .model_version = "12", .parameters = parameters, .outputs = outputs}),
      R"({"model_name":"m","model_version":"12",)"
      R"("parameters":{"s":"x","b":true,"i":-5,"u":18446744073709551615,"d":1.5},"outputs":[)"
      R"({"name":"a","datatype":"FP32","shape":[4],"parameters":{"binary_data_size":16}},)"
      R"({"name":"b","datatype":"INT16","shape":[2],"data":[-1,2]},)"
      R"({"name":"c","datatype":"BF16","shape":[2,1],"parameters":{"binary_data_size":4}}]})");
  ASSERT_EQ(binary_.size(), 2u);
  EXPECT_EQ(static_cast<const void*>(binary_[0].data()), floats.data());
  EXPECT_EQ(binary_[0].size(), 16u);
  EXPECT_EQ(static_cast<const void*>(binary_[1].data()), shorts.data());
}

TEST_F(InferResponseTest, NoOutputs) {
  EXPECT_EQ(write({.model_name = "m", .model_version = "1"}),
            R"({"model_name":"m","model_version":"1","outputs":[]})");
}

TEST_F(InferResponseTest, EveryType) {
  using std::vector;
  EXPECT_EQ(data(DataType::kBool, {3}, bytes_of(vector<std::uint8_t>{1, 0, 7})),
            "[true,false,true]");
  EXPECT_EQ(data(DataType::kInt8, {3}, bytes_of(vector<std::int8_t>{-128, 0, 127})),
            "[-128,0,127]");
  EXPECT_EQ(data(DataType::kUint8, {3}, bytes_of(vector<std::uint8_t>{0, 1, 255})), "[0,1,255]");
  EXPECT_EQ(data(DataType::kInt16, {1}, bytes_of(vector<std::int16_t>{INT16_MIN})), "[-32768]");
  EXPECT_EQ(data(DataType::kUint16, {1}, bytes_of(vector<std::uint16_t>{UINT16_MAX})), "[65535]");
  EXPECT_EQ(data(DataType::kInt32, {1}, bytes_of(vector<std::int32_t>{INT32_MIN})),
            "[-2147483648]");
  EXPECT_EQ(data(DataType::kUint32, {1}, bytes_of(vector<std::uint32_t>{UINT32_MAX})),
            "[4294967295]");
  EXPECT_EQ(data(DataType::kInt64, {2}, bytes_of(vector<std::int64_t>{INT64_MIN, INT64_MAX})),
            "[-9223372036854775808,9223372036854775807]");
  EXPECT_EQ(data(DataType::kUint64, {1}, bytes_of(vector<std::uint64_t>{UINT64_MAX})),
            "[18446744073709551615]");
  EXPECT_EQ(data(DataType::kFp64, {3}, bytes_of(vector<double>{0.1, 1e300, -0.0})),
            "[0.1,1e+300,-0.0]");
  EXPECT_EQ(data(DataType::kBytes, {1, 3},
                 bytes_of(testing::as_bytes({"a", "h\xc3\xa9 \"q\" \\ \n", ""}))),
            R"(["a","hé \"q\" \\ \n",""])");
  EXPECT_EQ(data(DataType::kInt32, {0}, {}), "[]");
  EXPECT_EQ(data(DataType::kBytes, {2, 0}, {}), "[]");
  EXPECT_EQ(data(DataType::kInt32, {}, bytes_of(vector<std::int32_t>{5})), "[5]");
}

TEST_F(InferResponseTest, FloatsAreShortestAndStayFloats) {
  const std::vector<float> floats{0.1F,  1e-7F,         1e7F,   1e20F,       3.4028235e38F,
                                  -0.0F, 1.23456789e8F, 1e-45F, 16777216.0F, 2.5F};
  EXPECT_EQ(data(DataType::kFp32, {10}, bytes_of(floats)),
            "[0.1,1e-07,1e+07,1e+20,3.4028235e+38,-0.0,123456792.0,1e-45,16777216.0,2.5]");
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const std::vector<float> special{std::nanf(""), kInf, -kInf};
  EXPECT_EQ(data(DataType::kFp32, {3}, bytes_of(special)), "[NaN,Infinity,-Infinity]");
}

TEST_F(InferResponseTest, RandomFloatsReadBackAsTheSameBits) {
  std::mt19937_64 random(7);
  std::vector<float> floats(20'000);
  for (auto& f : floats) {
    do {
      const auto bits = static_cast<std::uint32_t>(random());
      std::memcpy(&f, &bits, sizeof f);
    } while (!std::isfinite(f));
  }
  const std::string text = data(DataType::kFp32, {20'000}, bytes_of(floats));
  const testing::Body body(R"({"inputs":[{"name":"x","shape":[20000],"datatype":"FP32","data":)" +
                           text + "}]}");
  InferParser parser;
  InferRequest request;
  const auto status = parser.parse(body.view(), request);
  ASSERT_TRUE(status.ok()) << status.error().message;
  EXPECT_EQ(std::memcmp(request.inputs[0].tensor.bytes.data(), floats.data(), 80'000), 0);
}

TEST_F(InferResponseTest, Errors) {
  const std::vector<std::uint16_t> halves{1, 2};
  const Error fp16 = error(DataType::kFp16, {2}, bytes_of(halves));
  EXPECT_EQ(fp16.code, Code::kInvalidArgument);
  EXPECT_EQ(fp16.message,
            "sending FP16 data via JSON is not supported. Please use the binary data format for "
            "output o");
  const std::string fit = "output tensor shape does not match size of output for 'o'";
  EXPECT_EQ(error(DataType::kInt16, {3}, bytes_of(halves)).message, fit);
  EXPECT_EQ(error(DataType::kBytes, {2}, bytes_of(testing::as_bytes({"a"}))).message, fit);
  EXPECT_EQ(error(DataType::kBytes, {1}, bytes_of(testing::as_bytes({"a", "b"}))).message, fit);
  EXPECT_EQ(error(DataType::kBytes, {1}, bytes_of(std::string("\x05\0\0\0abc", 7))).message, fit);
  EXPECT_EQ(error(DataType::kBytes, {1}, bytes_of(std::string("\x05\0", 2))).message, fit);
}

}  // namespace
}  // namespace tauto::wire
