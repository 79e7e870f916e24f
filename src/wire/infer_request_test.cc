#include "wire/infer_request.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "wire/allocation_count_test.h"
#include "wire/infer_body_test.h"

namespace tauto::wire {
namespace {

using testing::as_bytes;
using testing::Body;
using testing::text_of;
using testing::values_of;

class InferRequestTest : public ::testing::Test {
 protected:
  void parse(const Body& body) {
    const auto status = parser_.parse(body.view(), request_);
    ASSERT_TRUE(status.ok()) << status.error().message;
  }
  /// Keeps the body, which the request views.
  void parse(Body&& body) {
    body_.emplace(std::move(body));
    parse(*body_);
  }
  InferParser parser_;
  InferRequest request_;
  std::optional<Body> body_;
};

TEST_F(InferRequestTest, SmallJson) {
  const Body body(R"({"id":"my id-42","inputs":[)"
                  R"({"name":"INPUT0","shape":[1,3],"datatype":"FP32","data":[0,1.5,-2e1]}]})");
  parse(body);
  EXPECT_EQ(request_.id, "my id-42");
  EXPECT_FALSE(request_.raw);
  ASSERT_EQ(request_.inputs.size(), 1u);
  const InferInput& input = request_.inputs[0];
  EXPECT_EQ(input.name, "INPUT0");
  EXPECT_EQ(input.tensor.type, DataType::kFp32);
  EXPECT_EQ(input.tensor.shape, (Shape{1, 3}));
  EXPECT_FALSE(input.binary);
  EXPECT_EQ(values_of<float>(input), (std::vector<float>{0, 1.5F, -20}));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(input.tensor.bytes.data()) % 64, 0u);
  EXPECT_TRUE(request_.outputs.empty());
  EXPECT_FALSE(request_.priority || request_.timeout || request_.deadline);
  EXPECT_FALSE(request_.in_sequence());
}

TEST_F(InferRequestTest, MembersInAnyOrderWithBlanksAndEscapes) {
  const Body body(
      " { \"inputs\" : [ { \"data\" : [ [ 1 , 2 ] , [ 3 , 4 ] ] , "
      "\"extra\":{\"a\":[null,\"\\n\"]},\n"
      " \"da\\u0074atype\":\"INT32\", \"shape\":[2,2], \"name\":\"a\\\"b\\u00e9\" } ] "
      ",\t\"id\":\"x\" } ");
  parse(body);
  ASSERT_EQ(request_.inputs.size(), 1u);
  EXPECT_EQ(request_.inputs[0].name, "a\"b\xc3\xa9");
  EXPECT_EQ(values_of<std::int32_t>(request_.inputs[0]), (std::vector<std::int32_t>{1, 2, 3, 4}));
  EXPECT_EQ(request_.id, "x");
}

TEST_F(InferRequestTest, EveryTypeAtItsLimits) {
  const auto one = [&](std::string_view type, std::string_view data, int count) {
    const Body body(R"({"inputs":[{"name":"x","shape":[)" + std::to_string(count) +
                    R"(],"datatype":")" + std::string(type) + R"(","data":)" + std::string(data) +
                    "}]}");
    const auto status = parser_.parse(body.view(), request_);
    EXPECT_TRUE(status.ok()) << type << ": " << status.error().message;
    return request_.inputs.empty() ? InferInput{} : request_.inputs[0];
  };
  using std::vector;
  EXPECT_EQ(values_of<std::int8_t>(one("INT8", "[-128,127]", 2)), (vector<std::int8_t>{-128, 127}));
  EXPECT_EQ(values_of<std::int16_t>(one("INT16", "[-32768,32767]", 2)),
            (vector<std::int16_t>{-32768, 32767}));
  EXPECT_EQ(values_of<std::int32_t>(one("INT32", "[-2147483648,2147483647]", 2)),
            (vector<std::int32_t>{INT32_MIN, INT32_MAX}));
  EXPECT_EQ(values_of<std::int64_t>(one("INT64", "[-9223372036854775808,9223372036854775807]", 2)),
            (vector<std::int64_t>{INT64_MIN, INT64_MAX}));
  EXPECT_EQ(values_of<std::uint8_t>(one("UINT8", "[0,255]", 2)), (vector<std::uint8_t>{0, 255}));
  EXPECT_EQ(values_of<std::uint16_t>(one("UINT16", "[65535]", 1)), (vector<std::uint16_t>{65535}));
  EXPECT_EQ(values_of<std::uint32_t>(one("UINT32", "[4294967295]", 1)),
            (vector<std::uint32_t>{UINT32_MAX}));
  EXPECT_EQ(values_of<std::uint64_t>(one("UINT64", "[18446744073709551615]", 1)),
            (vector<std::uint64_t>{UINT64_MAX}));
  EXPECT_EQ(values_of<std::uint8_t>(one("BOOL", "[true,false,1,0]", 4)),
            (vector<std::uint8_t>{1, 0, 1, 0}));
  EXPECT_EQ(values_of<double>(one("FP64", "[1e308,-0.1]", 2)), (vector<double>{1e308, -0.1}));
  EXPECT_EQ(values_of<float>(one("FP32", "[3.4028235e38,1e-45,16777217,5e-324]", 4)),
            (vector<float>{3.4028235e38F, 1e-45F, 16777216.0F, 0}));
  EXPECT_EQ(text_of(one("BYTES", R"(["a","h\u00e9 \"q\"",""])", 3).tensor.bytes),
            as_bytes({"a", "h\xc3\xa9 \"q\"", ""}));
}

TEST_F(InferRequestTest, NanAndInfinityAreRead) {
  const Body body(
      R"({"inputs":[)"
      R"({"name":"x","shape":[4],"datatype":"FP32","data":[NaN, Infinity ,-Infinity,1]}]})");
  parse(body);
  const auto v = values_of<float>(request_.inputs[0]);
  EXPECT_TRUE(std::isnan(v[0]));
  EXPECT_TRUE(std::isinf(v[1]) && v[1] > 0);
  EXPECT_TRUE(std::isinf(v[2]) && v[2] < 0);
  EXPECT_EQ(v[3], 1);
}

TEST_F(InferRequestTest, RaggedNestingScalarAndEmptyShapes) {
  parse(Body(R"({"inputs":[
    {"name":"a","shape":[2,2],"datatype":"INT8","data":[[1,2,3],4]},
    {"name":"b","shape":[],"datatype":"INT8","data":[7]},
    {"name":"c","shape":[0],"datatype":"BYTES","data":[]},
    {"name":"d","shape":[0,9223372036854775807],"datatype":"FP64","data":[[]]}]})"));
  ASSERT_EQ(request_.inputs.size(), 4u);
  EXPECT_EQ(values_of<std::int8_t>(request_.inputs[0]), (std::vector<std::int8_t>{1, 2, 3, 4}));
  EXPECT_EQ(request_.inputs[1].tensor.shape.rank(), 0u);
  EXPECT_EQ(values_of<std::int8_t>(request_.inputs[1]), (std::vector<std::int8_t>{7}));
  EXPECT_EQ(request_.inputs[2].tensor.bytes.size(), 0u);
  EXPECT_EQ(request_.inputs[3].tensor.bytes.size(), 0u);
}

TEST_F(InferRequestTest, BinaryTensorsAreViewedInPlace) {
  const std::string strings = as_bytes({"ab", ""});
  const Body body(
      R"({"inputs":[{"name":"a","shape":[2],"datatype":"FP16",
        "parameters":{"binary_data_size":4,"other":[1]}},
        {"name":"j","shape":[1],"datatype":"INT64","data":[5]},
        {"name":"s","shape":[2],"datatype":"BYTES","parameters":{"binary_data_size":10}}]})",
      "wxyz" + strings);
  parse(body);
  ASSERT_EQ(request_.inputs.size(), 3u);
  EXPECT_TRUE(request_.inputs[0].binary);
  EXPECT_EQ(request_.inputs[0].tensor.bytes.data(), body.binary());
  EXPECT_EQ(request_.inputs[0].tensor.bytes.size(), 4u);
  EXPECT_FALSE(request_.inputs[1].binary);
  EXPECT_EQ(values_of<std::int64_t>(request_.inputs[1]), (std::vector<std::int64_t>{5}));
  EXPECT_EQ(request_.inputs[2].tensor.bytes.data(), body.binary() + 4);
  EXPECT_EQ(text_of(request_.inputs[2].tensor.bytes), strings);
}

TEST_F(InferRequestTest, MisalignedBinaryTensorsAreCopiedOnRequest) {
  std::string json =
      R"({"inputs":[)"
      R"({"name":"a","shape":[4],"datatype":"UINT8","parameters":{"binary_data_size":4}},)"
      R"({"name":"b","shape":[1],"datatype":"INT32","parameters":{"binary_data_size":4}}]})";
  json.resize((json.size() + 63) / 64 * 64, ' ');
  const Body body(json, "abcdefgh");
  InferBody view = body.view();
  view.tensor_alignment = 64;
  ASSERT_TRUE(parser_.parse(view, request_).ok());
  EXPECT_EQ(request_.inputs[0].tensor.bytes.data(), body.binary());
  EXPECT_NE(request_.inputs[1].tensor.bytes.data(), body.binary() + 4);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(request_.inputs[1].tensor.bytes.data()) % 64, 0u);
  EXPECT_EQ(text_of(request_.inputs[1].tensor.bytes), "efgh");
}

TEST_F(InferRequestTest, RawRequests) {
  parse(std::move(Body("", "abc").header("0")));
  EXPECT_TRUE(request_.raw);
  EXPECT_TRUE(request_.binary_data_output);
  EXPECT_EQ(text_of(request_.raw_bytes), "abc");
  parse(Body(""));
  EXPECT_TRUE(request_.raw);
  EXPECT_TRUE(request_.raw_bytes.empty());
  parse(Body(R"({"inputs":[]})"));
  EXPECT_FALSE(request_.raw);
  EXPECT_TRUE(request_.inputs.empty());
}

TEST_F(InferRequestTest, HeaderMayCoverTheWholeBody) {
  const std::string json = R"({"inputs":[]})";
  parse(std::move(Body(json).header(std::to_string(json.size()))));
  EXPECT_TRUE(request_.inputs.empty());
}

TEST_F(InferRequestTest, Outputs) {
  parse(Body(R"({"inputs":[],"outputs":[
    {"name":"a"},{"name":"b","parameters":{"binary_data":true,"classification":3,"x":{"y":1}}},
    {"name":"a","parameters":{"binary_data":true}},
    {"name":"c","parameters":{"binary_data":false,"classification":0}}]})"));
  ASSERT_EQ(request_.outputs.size(), 3u);
  EXPECT_EQ(request_.outputs[0].name, "a");
  EXPECT_FALSE(request_.outputs[0].binary.has_value());
  EXPECT_EQ(request_.outputs[1].binary, true);
  EXPECT_EQ(request_.outputs[1].classification, 3u);
  EXPECT_EQ(request_.outputs[2].binary, false);
  EXPECT_FALSE(request_.outputs[2].classification.has_value());
}

TEST_F(InferRequestTest, Parameters) {
  parse(Body(R"({"parameters":{"priority":2,"timeout":1500,"deadline_us":20000,
    "binary_data_output":true,"sequence_id":"abc","sequence_start":true,"sequence_end":false,
    "tauto.label.tenant":"acme","tauto.label.route":"\u00e9",
    "foo":"bar","n":-3,"u":18446744073709551615,"b":true,"d":1.5,"priority":9,"foo":"again"},
    "inputs":[]})"));
  EXPECT_EQ(request_.priority, 2u);
  EXPECT_EQ(request_.timeout, Duration(1'500'000));
  EXPECT_EQ(request_.deadline, Duration(20'000'000));
  EXPECT_TRUE(request_.binary_data_output);
  EXPECT_EQ(std::get<std::string_view>(request_.sequence_id), "abc");
  EXPECT_TRUE(request_.sequence_start);
  EXPECT_FALSE(request_.sequence_end);
  EXPECT_TRUE(request_.in_sequence());
  ASSERT_EQ(request_.labels.size(), 2u);
  EXPECT_EQ(request_.labels[0].name, "tenant");
  EXPECT_EQ(request_.labels[0].value, "acme");
  EXPECT_EQ(request_.labels[1].value, "\xc3\xa9");
  ASSERT_EQ(request_.parameters.size(), 5u);
  EXPECT_EQ(std::get<std::string_view>(request_.parameters[0].value), "bar");
  EXPECT_EQ(std::get<std::int64_t>(request_.parameters[1].value), -3);
  EXPECT_EQ(std::get<std::uint64_t>(request_.parameters[2].value), UINT64_MAX);
  EXPECT_EQ(std::get<bool>(request_.parameters[3].value), true);
  EXPECT_EQ(std::get<double>(request_.parameters[4].value), 1.5);
}

TEST_F(InferRequestTest, HugeTimesAreCutToWhatTheClockCanHold) {
  parse(Body(R"({"parameters":{"timeout":18446744073709551615,"deadline_us":18446744073709551615},)"
             R"("inputs":[]})"));
  EXPECT_GT(*request_.timeout, std::chrono::hours(24 * 365 * 99));
  EXPECT_GT(*request_.deadline, std::chrono::hours(24 * 365 * 99));
  EXPECT_GT(Instant{} + std::chrono::hours(24 * 365 * 100) + *request_.deadline, Instant{});
  parse(Body(R"({"parameters":{"timeout":0},"inputs":[]})"));
  EXPECT_FALSE(request_.timeout.has_value());
}

TEST_F(InferRequestTest, FirstOfTwoEqualKeysWins) {
  parse(Body(R"({"id":"a","id":"b","inputs":[{"name":"x","name":"y","shape":[1],"shape":[2],
    "datatype":"INT8","datatype":"FP32","data":[1],"data":[2,3]}],"inputs":[]})"));
  EXPECT_EQ(request_.id, "a");
  ASSERT_EQ(request_.inputs.size(), 1u);
  EXPECT_EQ(request_.inputs[0].name, "x");
  EXPECT_EQ(values_of<std::int8_t>(request_.inputs[0]), (std::vector<std::int8_t>{1}));
}

TEST_F(InferRequestTest, NothingIsLeftOverFromTheRequestBefore) {
  parse(Body(R"({"id":"a","parameters":{"priority":1,"deadline_us":1,"x":1,"tauto.label.l":"v",
    "sequence_id":1},"inputs":[{"name":"x","shape":[1],"datatype":"INT8","data":[1]}],
    "outputs":[{"name":"o"}]})"));
  parse(Body(R"({"inputs":[]})"));
  EXPECT_TRUE(request_.id.empty() && request_.inputs.empty() && request_.outputs.empty());
  EXPECT_TRUE(request_.labels.empty() && request_.parameters.empty());
  EXPECT_FALSE(request_.priority || request_.deadline || request_.in_sequence());
}

TEST_F(InferRequestTest, OneParserServesRequestsThatOverlap) {
  InferRequest other;
  const Body first(
      R"({"id":"a\n","inputs":[{"name":"x\t","shape":[2],"datatype":"INT16","data":[1,2]}]})");
  const Body second(
      R"({"id":"b\n","inputs":[{"name":"y\t","shape":[2],"datatype":"INT16","data":[3,4]}]})");
  ASSERT_TRUE(parser_.parse(first.view(), request_).ok());
  ASSERT_TRUE(parser_.parse(second.view(), other).ok());
  EXPECT_EQ(request_.id, "a\n");
  EXPECT_EQ(request_.inputs[0].name, "x\t");
  EXPECT_EQ(values_of<std::int16_t>(request_.inputs[0]), (std::vector<std::int16_t>{1, 2}));
  EXPECT_EQ(other.id, "b\n");
}

std::string floats_json(std::size_t count) {
  std::string json = R"({"inputs":[{"name":"INPUT0","shape":[1,)" + std::to_string(count) +
                     R"(],"datatype":"FP32","data":[)";
  for (std::size_t i = 0; i < count; ++i) json += (i ? "," : "") + std::to_string(i) + ".25";
  return json + "]}]}";
}

TEST_F(InferRequestTest, AllocatesNothingAfterWarmUp) {
  const Body json(floats_json(5000));
  const Body mixed(
      R"({"id":"q\n1","parameters":{"deadline_us":5,"foo":"bar","tauto.label.a":"b"},"inputs":[
        {"name":"a","shape":[1],"datatype":"INT32","parameters":{"binary_data_size":4}},
        {"data":["x","y\t"],"name":"b","shape":[2],"datatype":"BYTES"}],
        "outputs":[{"name":"o","parameters":{"binary_data":true}}]})",
      "abcd");
  const std::byte* data = nullptr;
  for (int round = 0; round < 6; ++round) {
    const std::size_t before = testing::allocation_count();
    const bool ok = parser_.parse(json.view(), request_).ok();
    const std::byte* now = request_.inputs[0].tensor.bytes.data();
    const bool ok_too = parser_.parse(mixed.view(), request_).ok();
    const std::size_t after = testing::allocation_count();
    ASSERT_TRUE(ok && ok_too);
    if (round < 2) {
      data = now;
      continue;
    }
    EXPECT_EQ(after - before, 0u);
    EXPECT_EQ(now, data);  // the arena does not go through operator new
  }
}

TEST_F(InferRequestTest, ManyTensorsOfManySizes) {
  std::string json = R"({"inputs":[)";
  for (int i = 0; i < 1000; ++i) {
    json += i ? "," : "";
    json += R"({"name":")" + std::to_string(i) + R"(","shape":[2],"datatype":"BYTES","data":["n)" +
            std::to_string(i) + "\",\"" + std::string(static_cast<std::size_t>(i % 300), 'z') +
            "\"]}";
  }
  json += "]}";
  for (int round = 0; round < 2; ++round) {
    parse(Body(json));
    ASSERT_EQ(request_.inputs.size(), 1000u);
    for (std::size_t i = 0; i < 1000; ++i) {
      ASSERT_EQ(text_of(request_.inputs[i].tensor.bytes),
                as_bytes({"n" + std::to_string(i), std::string(i % 300, 'z')}));
    }
  }
}

}  // namespace
}  // namespace tauto::wire
