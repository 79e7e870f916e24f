#include "lab/kserve.h"

#include <gtest/gtest.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "lab/bench.h"
#include "lab/random_tensor.h"
#include "lab/scripted_server.h"
#include "net/monotonic.h"

namespace tauto::lab {
namespace {

using namespace std::chrono_literals;
using Json = nlohmann::json;

constexpr const char* kMetadata = R"({"name":"m","inputs":[
  {"name":"ids","datatype":"INT64","shape":[-1,-1]},
  {"name":"scale","datatype":"FP32","shape":[-1,2]}],"outputs":[]})";
constexpr const char* kConfig = R"({"max_batch_size":8})";

KserveModel model() { return parse_kserve_model(kMetadata, kConfig).value(); }

KserveRequestOptions with_shape(std::string_view text) {
  KserveRequestOptions options;
  options.shapes.push_back(parse_shape_flag(text).value());
  return options;
}

TEST(Kserve, ReadsMetadataAndConfig) {
  const auto m = model();
  ASSERT_EQ(m.inputs.size(), 2u);
  EXPECT_EQ(m.inputs[0].type, DataType::kInt64);
  EXPECT_EQ(m.inputs[1].dims, (Shape{-1, 2}));
  EXPECT_EQ(m.batch_rows_max, 8u);
  EXPECT_EQ(parse_kserve_model(kMetadata, "").value().batch_rows_max, 0u);
  for (const auto* wrong : {"", "[]", "{}", R"({"inputs":[{"name":"a"}]})",
                            R"({"inputs":[{"name":"a","datatype":"INT65","shape":[1]}]})",
                            R"({"inputs":[{"name":"a","datatype":"INT64","shape":[true]}]})"}) {
    EXPECT_FALSE(parse_kserve_model(wrong, "").ok()) << wrong;
  }
}

TEST(Kserve, CompletesShapesWithTheBatch) {
  auto options = with_shape("ids:16");  // the batch was left out
  options.batch_rows = 4;
  const auto inputs = concrete_inputs(model(), options).value();
  EXPECT_EQ(inputs[0].dims, (Shape{4, 16}));
  EXPECT_EQ(inputs[1].dims, (Shape{4, 2}));
  EXPECT_EQ(concrete_inputs(model(), with_shape("ids:1,128")).value()[0].dims, (Shape{1, 128}));
}

TEST(Kserve, RefusesShapesThatDoNotFitAndSaysWhy) {
  const auto message = [](const KserveRequestOptions& options) {
    const auto result = concrete_inputs(model(), options);
    return result.ok() ? std::string("accepted") : result.error().message;
  };
  EXPECT_NE(message({}).find("--shape ids:1,128"), std::string::npos);
  EXPECT_NE(message(with_shape("idz:1,128")).find("did you mean 'ids'"), std::string::npos);
  EXPECT_NE(message(with_shape("ids:1,2,3")).find("3 dimensions"), std::string::npos);
  auto options = with_shape("ids:2,128");
  options.batch_rows = 4;
  EXPECT_NE(message(options).find("--batch is 4"), std::string::npos);
  options = with_shape("ids:128");
  options.batch_rows = 9;
  EXPECT_NE(message(options).find("max_batch_size 8"), std::string::npos);
  options = with_shape("ids:128");
  options.shapes.push_back(parse_shape_flag("scale:1,3").value());
  EXPECT_NE(message(options).find("[-1,2]"), std::string::npos);
  for (const auto* wrong : {"", "ids", ":1", "ids:", "ids:a", "ids:-1", "ids:1,,2"}) {
    EXPECT_FALSE(parse_shape_flag(wrong).ok()) << wrong;
  }
}

TEST(Kserve, BinaryBodiesHaveTheSizesTheyDeclare) {
  auto options = with_shape("ids:2,5");
  options.batch_rows = 2;
  options.int_max = 7;
  options.deadline = 50ms;
  SplitMix64 random(1);
  const auto inputs = concrete_inputs(model(), options).value();
  const auto body = make_kserve_body(inputs, options, random).value();
  const auto json = Json::parse(body.bytes.substr(0, body.json_bytes));
  EXPECT_EQ(json["parameters"]["deadline_us"], 50'000);
  EXPECT_EQ(json["parameters"]["binary_data_output"], true);
  EXPECT_EQ(json["inputs"][0]["parameters"]["binary_data_size"], 2 * 5 * 8);
  EXPECT_EQ(json["inputs"][1]["parameters"]["binary_data_size"], 2 * 2 * 4);
  ASSERT_EQ(body.bytes.size(), body.json_bytes + 80 + 16);
  for (std::size_t i = 0; i < 10; ++i) {
    std::int64_t value = -1;
    std::memcpy(&value, body.bytes.data() + body.json_bytes + 8 * i, 8);
    EXPECT_TRUE(value >= 0 && value <= 7) << value;
  }
}

TEST(Kserve, JsonBodiesHoldTheElementsFlat) {
  auto options = with_shape("ids:1,5");
  options.binary = false;
  SplitMix64 random(1);
  const auto inputs = concrete_inputs(model(), options).value();
  const auto body = make_kserve_body(inputs, options, random).value();
  EXPECT_EQ(body.json_bytes, 0u);
  const auto json = Json::parse(body.bytes);
  EXPECT_EQ(json["inputs"][0]["data"].size(), 5u);
  EXPECT_EQ(json["inputs"][1]["data"].size(), 2u);
  EXPECT_LT(json["inputs"][1]["data"][0].get<double>(), 1);
  const std::vector<TensorSpec> half{{"h", DataType::kFp16, Shape{1}}};
  EXPECT_FALSE(make_kserve_body(half, options, random).ok());
}

TEST(RandomTensor, EveryTypeHasItsSizeAndRange) {
  SplitMix64 random(3);
  for (std::uint8_t t = 1; t < kDataTypeCount; ++t) {
    const TensorSpec spec{"x", static_cast<DataType>(t), Shape{3, 2}};
    std::string bytes;
    append_random_binary(bytes, spec, 1000, random);
    const auto each = spec.type == DataType::kBytes ? 12 : byte_size(spec.type);
    EXPECT_EQ(bytes.size(), 6 * each) << protocol_name(spec.type);
    if (spec.type == DataType::kInt8) {
      for (const char c : bytes) EXPECT_GE(c, 0);
    }
    if (spec.type == DataType::kBool) {
      for (const char c : bytes) EXPECT_TRUE(c == 0 || c == 1);
    }
  }
}

TEST(Kserve, AddsADeadlineToRecordedBodies) {
  const auto body = add_deadline(R"({"id":"a","parameters":{"priority":1}})", 20ms).value();
  EXPECT_EQ(Json::parse(body),
            Json::parse(R"({"id":"a","parameters":{"priority":1,"deadline_us":20000}})"));
  EXPECT_FALSE(add_deadline("[1]", 20ms).ok());
}

TEST(Url, IsReadInItsParts) {
  const auto url = parse_url("http://[::1]:81/a/b?c=d").value();
  EXPECT_EQ(url.host, "[::1]");
  EXPECT_EQ(url.port, 81);
  EXPECT_EQ(url.path, "/a/b?c=d");
  EXPECT_EQ(parse_url("host:8000").value().path, "/");
  EXPECT_EQ(parse_url("http://host").value().port, 80);
  for (const auto* wrong : {"", "https://host", "host:", "host:99999", "ho st:1", "http:///x"}) {
    EXPECT_FALSE(parse_url(wrong).ok()) << wrong;
  }
}

BenchOptions bench_options(const ScriptedServer& server) {
  BenchOptions options;
  options.url = server.url();
  options.model = "m";
  options.kserve.shapes.push_back({"ids", Shape{1, 4}});
  options.concurrency = 2;
  options.length = 100ms;
  options.timeout = 60s;
  return options;
}

Result<report::BenchResult> run(const BenchOptions& options) {
  const net::MonotonicTime time;
  return bench(options, time, {});
}

Act serve_model(const SeenRequest& r) {
  if (r.head.starts_with("GET /v2/models/m ")) return Act::reply(200, kMetadata);
  if (r.head.starts_with("GET /v2/models/m/config ")) return Act::reply(200, kConfig);
  if (!r.head.starts_with("POST /v2/models/m/infer ")) {
    return Act::reply(404, R"({"error":"unknown model"})");
  }
  const bool asked = r.head.find("tauto-journey: 1") != std::string::npos;
  return Act::reply(200, "{}",
                    asked ? "Server-Timing: compute;dur=0.001, total;dur=0.002\r\n" : "");
}

TEST(Bench, LoadsAModelAndLearnsWhereTheTimeWent) {
  ScriptedServer server(serve_model);
  const auto result = run(bench_options(server)).value();
  EXPECT_GT(result.ok, 0u);
  EXPECT_EQ(result.failed, 0u);
  EXPECT_TRUE(result.server_timing);
  EXPECT_EQ(result.config.request, "model m, binary tensors, batch 1");
  EXPECT_EQ(result.config.distinct_requests, 64u);
  EXPECT_EQ(result.stages.back().name, "compute");
}

TEST(Bench, AsksForNoJourneyWhenToldSo) {
  ScriptedServer server(serve_model);
  auto options = bench_options(server);
  options.journey = false;
  EXPECT_FALSE(run(options).value().server_timing);
}

TEST(Bench, ReplaysLinesInOrder) {
  ScriptedServer server(serve_model);
  auto options = bench_options(server);
  options.kind = BenchOptions::Kind::kPost;
  options.url = "http://" + server.url() + "/v2/models/m/infer";
  options.bodies = {"{\"a\":1}", "{\"b\":2}", "{\"c\":3}"};
  options.concurrency = 1;
  ASSERT_TRUE(run(options).ok());
  const auto seen = server.seen();
  ASSERT_GE(seen.size(), 6u);
  for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i].body, options.bodies[i % 3]);
}

TEST(Bench, StopsBeforeTheLoadWhenTheServerRefuses) {
  ScriptedServer server([](const SeenRequest& r) {
    return r.head.starts_with("POST") ? Act::reply(400, R"({"error":"bad tensor"})")
                                      : serve_model(r);
  });
  const auto refused = run(bench_options(server));
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("400 bad tensor"), std::string::npos);
  EXPECT_EQ(server.seen().size(), 3u);  // metadata, config, one request
  auto options = bench_options(server);
  options.model = "other";
  EXPECT_NE(run(options).error().message.find("unknown model"), std::string::npos);
}

TEST(Bench, AServerThatShedsIsStillMeasured) {
  ScriptedServer server([](const SeenRequest& r) {
    return r.head.starts_with("POST") ? Act::reply(429, "{}") : serve_model(r);
  });
  const auto result = run(bench_options(server)).value();
  EXPECT_EQ(result.ok, 0u);
  EXPECT_EQ(result.errors.front().what, "HTTP 429");
}

TEST(Message, OursGiveWayToTheUsersHeaders) {
  HttpMessage message;
  message.method = "POST";
  message.path = "/p";
  message.host = "h:1";
  message.headers = {{"content-type", "text/plain"}, {"X-A", "b"}};
  message.body = "body";
  EXPECT_EQ(format_message(message),
            "POST /p HTTP/1.1\r\nHost: h:1\r\nUser-Agent: tauto-bench\r\n"
            "content-type: text/plain\r\nX-A: b\r\nContent-Length: 4\r\n\r\nbody");
}

}  // namespace
}  // namespace tauto::lab
