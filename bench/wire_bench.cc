// The price of understanding and answering: KServe bodies, as JSON and with binary tensors.

#include <benchmark/benchmark.h>

#include <cstring>
#include <string>
#include <vector>

#include "core/buffer.h"
#include "wire/infer_request.h"
#include "wire/infer_response.h"

namespace tauto::wire {
namespace {

/// A body as the server hands it over: aligned, with readable bytes behind it.
struct Body {
  AlignedBuffer memory;
  InferBody view;
  std::string header;

  Body(const std::string& json, const std::string& binary) : header(std::to_string(json.size())) {
    auto* bytes = reinterpret_cast<char*>(memory.reserve(json.size() + binary.size() + 64));
    std::memcpy(bytes, json.data(), json.size());
    std::memcpy(bytes + json.size(), binary.data(), binary.size());
    view.bytes = {memory.data(), json.size() + binary.size()};
    if (!binary.empty()) view.header_length = header;
    view.model = "m";
  }
};

std::string input_json(std::int64_t elements, const std::string& rest) {
  return R"({"inputs":[{"name":"x","datatype":"FP32","shape":[1,)" + std::to_string(elements) +
         "]," + rest + "}]}";
}

void parse(benchmark::State& state, const Body& body) {
  InferParser parser;
  InferRequest request;
  for (auto _ : state) {
    if (!parser.parse(body.view, request).ok()) {
      state.SkipWithError("the body was refused");
      return;
    }
    benchmark::DoNotOptimize(request.inputs.data());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(body.view.bytes.size()));
}

void parse_json(benchmark::State& state) {
  std::string data;
  for (std::int64_t i = 0; i < state.range(0); ++i)
    data += (i > 0 ? "," : "") + std::to_string(static_cast<double>(i) * 0.37);
  parse(state, Body(input_json(state.range(0), "\"data\":[" + data + "]"), ""));
}
BENCHMARK(parse_json)->Arg(16)->Arg(1024)->Arg(27'648);

void parse_binary(benchmark::State& state) {
  const auto bytes = static_cast<std::size_t>(state.range(0)) * 4;
  parse(state, Body(input_json(state.range(0), "\"parameters\":{\"binary_data_size\":" +
                                                   std::to_string(bytes) + "}"),
                    std::string(bytes, '\1')));
}
BENCHMARK(parse_binary)->Arg(16)->Arg(1024)->Arg(27'648);

void respond(benchmark::State& state, bool binary) {
  const std::vector<float> values(static_cast<std::size_t>(state.range(0)), 0.37f);
  InferOutput output{.name = "y", .tensor = {}, .binary = binary};
  output.tensor.type = DataType::kFp32;
  output.tensor.shape.push_back(state.range(0));
  output.tensor.bytes = std::as_bytes(std::span(values));
  const InferResponse response{
      .model_name = "m", .model_version = "1", .outputs = std::span(&output, 1)};
  std::string json;
  std::vector<std::span<const std::byte>> pieces;
  for (auto _ : state) {
    json.clear();
    pieces.clear();
    if (!write_infer_response(response, json, pieces).ok()) {
      state.SkipWithError("the response could not be written");
      return;
    }
    benchmark::DoNotOptimize(json.data());
  }
}
void respond_json(benchmark::State& state) { respond(state, false); }
void respond_binary(benchmark::State& state) { respond(state, true); }
BENCHMARK(respond_json)->Arg(16)->Arg(1024)->Arg(27'648);
BENCHMARK(respond_binary)->Arg(16)->Arg(27'648);

}  // namespace
}  // namespace tauto::wire

BENCHMARK_MAIN();
