// KServe inference requests from raw bytes. The first byte says how the body is framed; the rest is
// the body. What our parser accepts, nlohmann/json must call JSON; every view must be readable (the
// sanitizers look); what comes out again as a response must be JSON too.

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "core/buffer.h"
#include "wire/infer_request.h"
#include "wire/infer_response.h"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

/// Touches every byte.
std::size_t sum_of(std::span<const std::byte> bytes) {
  std::size_t sum = 0;
  for (const auto b : bytes) sum += std::to_integer<std::size_t>(b);
  return sum;
}

/// Triton's and Python's dialect is accepted on purpose.
bool has_nan_or_infinity(std::string_view json) {
  return json.find("NaN") != json.npos || json.find("Inf") != json.npos;
}

void check_request(const tauto::wire::InferRequest& request) {
  std::size_t sum = request.id.size();
  for (const auto& input : request.inputs) {
    const auto elements = input.tensor.shape.element_count();
    require(elements.has_value());
    const std::size_t each = tauto::byte_size(input.tensor.type);
    if (each != 0) {
      require(input.tensor.bytes.size() == each * static_cast<std::size_t>(*elements));
    }
    sum += sum_of(input.tensor.bytes) + sum_of(std::as_bytes(std::span(input.name)));
  }
  for (const auto& output : request.outputs) sum += sum_of(std::as_bytes(std::span(output.name)));
  for (const auto& label : request.labels) sum += sum_of(std::as_bytes(std::span(label.value)));
  require(sum != ~std::size_t{0});
}

/// The inputs sent back as outputs.
void check_response(const tauto::wire::InferRequest& request) {
  std::vector<tauto::wire::InferOutput> outputs;
  bool utf8 = true;  // BYTES go out as they are, as Triton's do
  for (const auto& input : request.inputs) {
    const bool no_json =
        input.tensor.type == tauto::DataType::kFp16 || input.tensor.type == tauto::DataType::kBf16;
    outputs.push_back({input.name, input.tensor, no_json});
    if (input.tensor.type == tauto::DataType::kBytes && input.binary) utf8 = false;
  }
  std::string json;
  std::vector<std::span<const std::byte>> binary;
  tauto::wire::InferResponse response;
  response.id = request.id;
  response.model_name = "m";
  response.model_version = "1";
  response.parameters = request.parameters;
  response.outputs = outputs;
  require(tauto::wire::write_infer_response(response, json, binary).ok());
  if (utf8 && !has_nan_or_infinity(json)) require(nlohmann::json::accept(json));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t body_size = size - 1;
  tauto::AlignedBuffer memory;
  std::byte* p = memory.reserve(body_size + 64);
  if (body_size != 0) std::memcpy(p, data + 1, body_size);
  std::memset(p + body_size, data[0], 64);

  // 0: no header; 1: a header of any text; else: the JSON ends so many bytes before the body does.
  std::size_t json_size = body_size;
  std::string header;
  tauto::wire::InferBody body{.bytes = {p, body_size}, .header_length = {}, .model = "m"};
  body.tensor_alignment = data[0] % 2 == 0 ? 1 : 64;
  if (data[0] == 1) {
    header.assign(reinterpret_cast<const char*>(p), std::min<std::size_t>(body_size, 3));
    body.header_length = header;
  } else if (data[0] != 0) {
    json_size -= std::min<std::size_t>(body_size, data[0] - 2U);
    header = std::to_string(json_size);
    body.header_length = header;
  }

  static tauto::wire::InferParser parser;
  static tauto::wire::InferRequest request;
  if (!parser.parse(body, request).ok()) return 0;
  if (request.raw) return 0;
  check_request(request);
  if (data[0] != 1) {
    const std::string_view json(reinterpret_cast<const char*>(p), json_size);
    if (!has_nan_or_infinity(json)) require(nlohmann::json::accept(json));
  }
  check_response(request);
  return 0;
}
