// Every way in which a request can be wrong, and the words for it.

#include <gtest/gtest.h>

#include <string>

#include "wire/infer_body_test.h"
#include "wire/infer_request.h"

namespace tauto::wire {
namespace {

using testing::Body;

class InferErrorTest : public ::testing::Test {
 protected:
  void refuse(const Body& body, std::string_view text, Code code = Code::kInvalidArgument) {
    const auto status = parser_.parse(body.view(), request_);
    ASSERT_FALSE(status.ok()) << "accepted; expected: " << text;
    EXPECT_EQ(status.error().code, code) << status.error().message;
    EXPECT_NE(status.error().message.find(text), std::string::npos)
        << "got:      " << status.error().message << "\nexpected: " << text;
    // The parser is still good for the next request.
    const Body good(R"({"inputs":[{"name":"x","shape":[1],"datatype":"INT8","data":[1]}]})");
    ASSERT_TRUE(parser_.parse(good.view(), request_).ok());
  }
  void refuse_json(std::string_view json, std::string_view text,
                   Code code = Code::kInvalidArgument) {
    SCOPED_TRACE(json);
    refuse(Body(json), text, code);
  }
  /// One input "x" with these members behind its name.
  void refuse_input(std::string_view members, std::string_view text,
                    Code code = Code::kInvalidArgument) {
    refuse_json(R"({"inputs":[{"name":"x",)" + std::string(members) + "}]}", text, code);
  }
  void refuse_data(std::string_view type, std::string_view data, std::string_view text) {
    refuse_input(
        R"("shape":[1],"datatype":")" + std::string(type) + R"(","data":)" + std::string(data),
        text);
  }
  InferParser parser_;
  InferRequest request_;
};

TEST_F(InferErrorTest, NotJson) {
  const std::string_view broken = "failed to parse the request JSON buffer: ";
  for (const auto* json :
       {R"({"inputs":[{"name":)", R"({"inputs":[)", "{", R"({"inputs":[]} xyz)",
        R"({"inputs":[]}})", R"({"inputs":[],})", R"({"inputs" [] })", R"({"inputs":[] "id":"x"})",
        R"({"id":"a)", "{\"id\":\"\x01\",\"inputs\":[]}", "{\"id\":\"\xff\",\"inputs\":[]}",
        R"({"a":tru,"inputs":[]})", R"({"a":01,"inputs":[]})", R"({"a":"\x","inputs":[]})",
        R"({"a":[1,],"inputs":[]})", R"({"a":nul,"inputs":[]})", R"({"a":"\ud800","inputs":[]})",
        R"({"a\q":1,"inputs":[]})"}) {
    refuse_json(json, broken);
  }
  refuse_json("   ", broken);
}

TEST_F(InferErrorTest, NotAnObject) {
  for (const auto* json : {"[1,2]", "42", "\"x\"", "null", "true"}) {
    refuse_json(json, "the request must be a JSON object with 'inputs'");
  }
}

TEST_F(InferErrorTest, DataBehindTheJsonNamesTheHeader) {
  refuse_json(R"({"inputs":[]} 1)", "need the header Inference-Header-Content-Length");
}

TEST_F(InferErrorTest, Nesting) {
  const auto nested = [](std::size_t depth) {
    return R"({"x":)" + std::string(depth, '[') + std::string(depth, ']') + R"(,"inputs":[]})";
  };
  EXPECT_TRUE(parser_.parse(Body(nested(90)).view(), request_).ok());
  refuse_json(nested(101), "failed to parse the request JSON buffer: ");
  refuse_json(nested(100'000), "failed to parse the request JSON buffer: ");
  refuse_input(R"("shape":[1],"datatype":"INT8","data":)" + std::string(120, '[') + "1" +
                   std::string(120, ']'),
               "failed to parse the request JSON buffer: ");
}

TEST_F(InferErrorTest, HeaderLength) {
  const auto with = [](std::string header) {
    return std::move(Body(R"({"inputs":[]})", "abcd").header(std::move(header)));
  };
  refuse(with("abc"), "Unable to parse Inference-Header-Content-Length, got: abc");
  refuse(with(""), "Unable to parse Inference-Header-Content-Length, got: ");
  refuse(with("13x"), "Unable to parse Inference-Header-Content-Length, got: 13x");
  refuse(with(" 13"), "Unable to parse Inference-Header-Content-Length, got:  13");
  refuse(with("-5"), "inference header size should be in range (0, 17), got: -5");
  refuse(with("18"), "inference header size should be in range (0, 17), got: 18");
  refuse(with("99999999999999999999"),
         "inference header size should be in range (0, 17), got: 99999999999999999999");
  refuse(with("5"), "failed to parse the request JSON buffer: ");
}

TEST_F(InferErrorTest, MissingMembers) {
  refuse_json("{}",
              "Unable to parse 'inputs': attempt to access non-existing object member 'inputs'");
  refuse_json(R"({"inputs":[{}]})", "object member 'name' in inputs[0]");
  refuse_input(R"("datatype":"INT8","data":[1])", "object member 'shape' in inputs[0]");
  refuse_input(R"("shape":[1],"data":[1])", "object member 'datatype' in inputs[0]");
  refuse_json(R"({"inputs":[],"outputs":[{"name":"a"},{}]})", "object member 'name' in outputs[1]");
}

TEST_F(InferErrorTest, WrongJsonTypes) {
  refuse_json(R"({"inputs":{}})", "Unable to parse 'inputs': expected an array, got {");
  refuse_json(R"({"inputs":[7]})", "Unable to parse inputs[0]: expected an object, got 7");
  refuse_json(R"({"id":42,"inputs":[]})", "Unable to parse 'id': expected a string, got 42");
  refuse_json(R"({"inputs":[],"outputs":5})",
              "Unable to parse 'outputs': expected an array, got 5");
  refuse_json(R"({"inputs":[{"name":5}]})",
              "Unable to parse 'name' of inputs[0]: expected a string, got 5");
  refuse_input(R"("datatype":5)", "Unable to parse 'datatype' of inputs[0]: expected a string");
  refuse_input(R"("shape":5)", "Unable to parse 'shape' of inputs[0]: expected an array");
  refuse_input(
      R"("shape":["1"])",
      R"('shape' of inputs[0], dimension 0: expected a whole number of at least 0, got "1")");
  refuse_input(R"("shape":[2,1.0])", "dimension 1: expected a whole number of at least 0, got 1.0");
  refuse_input(R"("shape":[-16])", "dimension 0: expected a whole number of at least 0, got -16");
  refuse_input(R"("shape":[18446744073709551615])", "dimension 0: expected a whole number");
  refuse_input(R"("shape":[1],"datatype":"INT8","data":{"a":1})",
               "Unable to parse 'data' of inputs[0]: expected an array, got {");
  refuse_input(R"("shape":[1],"datatype":"INT8","data":1)", "expected an array, got 1");
  refuse_input(R"("parameters":[])", "'parameters' of inputs[0]: expected an object");
  refuse_input(
      R"("parameters":{"binary_data_size":"64"})",
      R"('binary_data_size' of inputs[0]: expected a whole number of at least 0, got "64")");
  refuse_input(R"("parameters":{"binary_data_size":-1})", "'binary_data_size' of inputs[0]");
  refuse_json(R"({"inputs":[],"outputs":[{"name":"a","parameters":{"binary_data":"yes"}}]})",
              R"('binary_data' of outputs[0]: expected true or false, got "yes")");
  refuse_json(R"({"inputs":[],"outputs":[{"name":"a","parameters":{"classification":-1}}]})",
              "'classification' of outputs[0]");
}

TEST_F(InferErrorTest, Datatype) {
  refuse_data("FP99", "[1]", "invalid datatype for input x");
  refuse_data("<invalid>", "[1]", "invalid datatype for input x");
  refuse_data(
      "FP16", "[1]",
      "receiving FP16 data via JSON is not supported. Please use the binary data format for "
      "input x");
  refuse_data("BF16", "[1]", "receiving BF16 data via JSON is not supported.");
}

TEST_F(InferErrorTest, ExactlyOneSourceOfData) {
  const std::string only =
      "Input must set only one of the following fields: 'data', 'binary_data_size' in "
      "'parameters', "
      "'shared_memory_region' in 'parameters'. But ";
  refuse_input(R"("shape":[1],"datatype":"INT8")", only + "no field is set");
  refuse_input(R"("shape":[1],"datatype":"INT8","data":[1],"parameters":{"binary_data_size":1})",
               only + "set 'data' 'binary_data_size'");
  refuse_input(R"("shape":[1],"datatype":"INT8",)"
               R"("parameters":{"binary_data_size":1,"shared_memory_region":"r"})",
               only + "set 'binary_data_size' 'shared_memory_region'");
}

TEST_F(InferErrorTest, SharedMemoryIsNotSupported) {
  refuse_input(R"("shape":[1],"datatype":"INT8","parameters":{"shared_memory_region":"r"})",
               "shared memory is not supported", Code::kUnimplemented);
  refuse_json(R"({"inputs":[],"outputs":[{"name":"a","parameters":{"shared_memory_region":"r"}}]})",
              "shared memory is not supported", Code::kUnimplemented);
}

TEST_F(InferErrorTest, ElementsOutOfRangeOrOfTheWrongKind) {
  const std::string at = "Unable to parse 'data' of input 'x', element 0: expected ";
  refuse_data("INT8", "[128]", at + "a whole number from -128 to 127, got 128");
  refuse_data("INT8", "[-129]", at + "a whole number from -128 to 127, got -129");
  refuse_data("UINT8", "[256]", at + "a whole number from 0 to 255, got 256");
  refuse_data("UINT8", "[-1]", at + "a whole number from 0 to 255, got -1");
  refuse_data("UINT64", "[18446744073709551616]",
              at + "a whole number from 0 to 18446744073709551615");
  refuse_data("INT64", "[9223372036854775808]", at + "a whole number from -9223372036854775808");
  refuse_data("INT64", "[1.5]", "got 1.5");
  refuse_data("INT64", "[1.0]", "got 1.0");
  refuse_data("INT32", "[1e2]", "got 1e2");
  refuse_data("INT32", "[NaN]", "got NaN");
  refuse_data("FP32", "[1e39]", at + "a number within FP32's range, got 1e39");
  refuse_data("FP32", "[3.4028236e38]", "FP32's range");
  refuse_data("FP32", "[1e400]", "got 1e400");
  refuse_data("FP64", "[1e400]", at + "a number, got 1e400");
  refuse_data("FP32", R"(["1"])", R"(got "1")");
  refuse_data("FP32", "[null]", "got null");
  refuse_data("FP32", "[true]", "got true");
  refuse_data("FP32", "[-NaN]", "got -NaN");
  refuse_data("FP32", "[nan]", "got nan");
  refuse_data("FP32", "[{}]", "got {");
  refuse_data("FP32", "[.5]", "got .5");
  refuse_data("FP32", "[1.]", "got 1.");
  refuse_data("FP32", "[+1]", "got +1");
  refuse_data("FP32", "[01]", "got 01");
  refuse_data("BOOL", "[2]", at + "true, false, 0 or 1, got 2");
  refuse_data("BOOL", R"(["true"])", R"(got "true")");
  refuse_data("BOOL", "[-1]", "got -1");
  refuse_data("BYTES", "[5]", at + "a string, got 5");
  refuse_data("BYTES", R"(["\ud800"])", at + "a string");
}

TEST_F(InferErrorTest, DataThatDoesNotFitTheShape) {
  const std::string text =
      "Unable to parse 'data': Shape does not match true shape of 'data' field (input 'x': shape ";
  refuse_input(R"("shape":[1,16],"datatype":"FP32","data":[0,1,2])",
               text + "[1,16] has 16 elements, the data has 3)");
  refuse_input(R"("shape":[2],"datatype":"FP32","data":[0,1,2])",
               text + "[2] has 2 elements, the data has more)");
  refuse_input(R"("shape":[2],"datatype":"BYTES","data":["a"])", "the data has 1)");
  refuse_input(R"("shape":[0],"datatype":"BYTES","data":["a"])", "the data has more)");
}

TEST_F(InferErrorTest, HostileShapesReserveNothing) {
  refuse_input(R"("shape":[9223372036854775807],"datatype":"FP32","data":[1])",
               "cannot have so many");
  refuse_input(R"("shape":[1099511627776],"datatype":"FP64","data":[1])", "cannot have so many");
  refuse_input(R"("shape":[1099511627776],"datatype":"BYTES","data":["a"])", "cannot have so many");
  refuse_input(R"("data":["a"],"shape":[1099511627776],"datatype":"BYTES")", "cannot have so many");
  refuse_input(R"("shape":[4294967296,4294967296],"datatype":"FP32","data":[1])",
               "more elements than a request can hold");
  refuse_input(R"("data":[1],"shape":[4294967296,4294967296],"datatype":"FP32")",
               "more elements than a request can hold");
  refuse_input(R"("shape":[1,1,1,1,1,1,1,1,1],"datatype":"INT8","data":[1])",
               "more than 8 dimensions are not supported");
  const std::string binary =
      R"({"inputs":[{"name":"x","shape":[2305843009213693953],"datatype":"FP64",)"
      R"("parameters":{"binary_data_size":8}}]})";
  refuse(Body(binary, "12345678"), "input byte size mismatch");
  refuse_input(
      R"("shape":[1],"datatype":"FP64","parameters":{"binary_data_size":18446744073709551615})",
      "unexpected size for input 'x', expecting 18446744073709551615 additional bytes");
}

TEST_F(InferErrorTest, BinaryTensors) {
  const auto json = [](std::string_view shape, std::string_view type, int size) {
    return R"({"id":"q7","inputs":[{"name":"x","shape":)" + std::string(shape) +
           R"(,"datatype":")" + std::string(type) + R"(","parameters":{"binary_data_size":)" +
           std::to_string(size) + "}}]}";
  };
  refuse(Body(json("[2]", "FP32", 8), "1234"),
         "unexpected size for input 'x', expecting 4 additional bytes for model 'm'");
  refuse(Body(json("[2]", "FP32", 8)),
         "unexpected size for input 'x', expecting 8 additional bytes for model 'm'");
  refuse(Body(json("[2]", "FP32", 8), "123456789"),
         "unexpected additional input data for model 'm'");
  refuse(
      Body(json("[2]", "FP32", 7), "1234567"),
      "[request id: q7] input byte size mismatch for input 'x' for model 'm'. Expected 8, got 7");
  refuse(Body(json("[2]", "FP32", 9), "123456789"), "Expected 8, got 9");
  const std::string two = testing::as_bytes({"ab", "c"});
  refuse(Body(json("[1]", "BYTES", 11), two),
         "the BYTES of input 'x' for model 'm' are not 1 elements");
  refuse(Body(json("[3]", "BYTES", 11), two), "are not 3 elements");
  refuse(Body(json("[2]", "BYTES", 11), two.substr(0, 10) + "cd").header("x"), "Unable to parse");
  std::string lie = two;
  lie[0] = '\xff';
  lie[3] = '\xff';
  refuse(Body(json("[2]", "BYTES", 11), lie), "are not 2 elements");
}

TEST_F(InferErrorTest, NamesTwiceOrTooLong) {
  const std::string input = R"({"name":"x","shape":[1],"datatype":"INT8","data":[1]})";
  refuse_json(R"({"inputs":[)" + input + "," + input + "]}",
              "[request id: <id_unknown>] input 'x' already exists in request");
  const std::string name(1025, 'n');
  refuse_json(R"({"inputs":[{"name":")" + name + R"("}]})",
              "the name of inputs[0] is longer than 1024 bytes");
  refuse_json(R"({"inputs":[],"outputs":[{"name":")" + name + R"("}]})",
              "the name of outputs[0] is longer than 1024 bytes");
  refuse_json(R"({"inputs":[],"parameters":{")" + name + R"(":1}})", "longer than 1024 bytes");
  refuse_json(R"({"inputs":[],"id":")" + std::string(4097, 'i') + R"("})",
              "'id' is longer than 4096 bytes");
}

std::string list_of(std::size_t count, std::string_view before, std::string_view after) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) {
    out += (i ? "," : "") + std::string(before) + std::to_string(i) + std::string(after);
  }
  return out;
}

TEST_F(InferErrorTest, TooMany) {
  refuse_json(R"({"inputs":[)" +
                  list_of(1001, R"({"name":")", R"(","shape":[1],"datatype":"INT8","data":[1]})") +
                  "]}",
              "a request may have at most 1000 inputs");
  refuse_json(R"({"inputs":[],"outputs":[)" + list_of(1001, R"({"name":")", "\"}") + "]}",
              "a request may have at most 1000 outputs");
  refuse_json(R"({"inputs":[],"parameters":{)" + list_of(1001, "\"", "\":1") + "}}",
              "at most 1000 parameters");
  refuse_json(R"({"inputs":[],"parameters":{)" + list_of(33, "\"tauto.label.", "\":\"v\"") + "}}",
              "at most 32 labels");
}

TEST_F(InferErrorTest, RequestParameters) {
  const auto with = [&](std::string_view parameters, std::string_view text) {
    refuse_json(R"({"inputs":[],"parameters":)" + std::string(parameters) + "}", text);
  };
  with("[]", "Unable to parse 'parameters': expected an object, got [");
  with(R"({"priority":"1"})", R"(Unable to parse 'priority': expected a whole number)");
  with(R"({"priority":-1})", "'priority'");
  with(R"({"timeout":-1})",
       "Unable to parse 'timeout': expected a whole number of at least 0, got -1");
  with(R"({"timeout":1.5})", "got 1.5");
  with(R"({"deadline_us":0})", "Unable to parse 'deadline_us': expected microseconds, at least 1");
  with(R"({"deadline_us":"5ms"})", "'deadline_us'");
  with(R"({"binary_data_output":"yes"})", "'binary_data_output': expected true or false");
  with(R"({"sequence_id":1.5})", "'sequence_id'");
  with(R"({"sequence_start":1})", "'sequence_start': expected true or false, got 1");
  with(R"({"triton_foo":1})",
       "parameter keys starting with 'triton_' are reserved for Triton usage and should not be "
       "specified.");
  with(R"({"foo":[1]})",
       "parameter 'foo' has invalid type. It should be either 'int', 'bool', or 'string'.");
  with(R"({"foo":null})", "parameter 'foo' has invalid type.");
  with(R"({"foo":1e400})", "failed to parse");
  with(R"({"tauto.label.a":5})", "Unable to parse 'tauto.label.a': expected a string, got 5");
  with(R"({"tauto.label.":"v"})", "needs a name after the last dot");
  with(R"({"tauto.label.a":")" + std::string(257, 'v') + "\"}", "is longer than 256 bytes");
  with(R"({"tauto.deadline":5})", "unknown parameter 'tauto.deadline'");
}

TEST_F(InferErrorTest, LongValuesAreCutInMessages) {
  const auto status =
      parser_.parse(Body(R"({"inputs":[{"name":"x","shape":[1],"datatype":"INT8","data":[")" +
                         std::string(500, 'y') + "\"]}]}")
                        .view(),
                    request_);
  ASSERT_FALSE(status.ok());
  EXPECT_LT(status.error().message.size(), 200u);
}

}  // namespace
}  // namespace tauto::wire
