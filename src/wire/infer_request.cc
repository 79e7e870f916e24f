#include "wire/infer_request.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <string>

#include "wire/infer_json.h"
#include "wire/json_reader_impl.h"

namespace tauto::wire {
namespace {

constexpr std::size_t kParserMin = 16 * 1024;             // bytes of JSON
constexpr std::size_t kParserKeepMax = 16 * 1024 * 1024;  // a larger parser is dropped after use

Error invalid(std::string message) { return Error{Code::kInvalidArgument, std::move(message)}; }

/// Length of the JSON in front of binary tensors. Errors: as Triton words them.
Result<std::size_t> json_length(const InferBody& body) {
  if (!body.header_length) return body.bytes.size();
  const std::string_view text = *body.header_length;
  const auto out_of_range = [&] {
    return invalid("inference header size should be in range (0, " +
                   std::to_string(body.bytes.size()) + "), got: " + std::string(text));
  };
  std::int64_t length = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), length);
  if (end != text.data() + text.size() || code == std::errc::invalid_argument) {
    return invalid("Unable to parse Inference-Header-Content-Length, got: " + std::string(text));
  }
  if (code != std::errc{} || length < 0) return out_of_range();
  if (static_cast<std::uint64_t>(length) > body.bytes.size()) return out_of_range();
  return static_cast<std::size_t>(length);
}

/// BYTES as they travel: each element is a u32 length and so many bytes, nothing behind the last.
bool bytes_fit(std::span<const std::byte> bytes, std::int64_t elements) {
  const std::byte* p = bytes.data();
  std::size_t left = bytes.size();
  for (std::int64_t i = 0; i < elements; ++i) {
    std::uint32_t length = 0;
    if (left < sizeof length) return false;
    std::memcpy(&length, p, sizeof length);
    left -= sizeof length;
    if (left < length) return false;
    p += sizeof length + length;
    left -= length;
  }
  return left == 0;
}

}  // namespace

struct InferParser::Impl {
  ondemand::parser simdjson;
  std::vector<std::size_t> binary_sizes;  // of the inputs, in order; those with binary data only

  Status parse(const InferBody& body, InferRequest& out);
  Status parse_json(std::string_view json, InferRequest& out);
  Status view_binary(const InferBody& body, std::size_t json_size, InferRequest& out);
  Status make_room(std::size_t json_size);
};

InferParser::InferParser() : impl_(std::make_unique<Impl>()) {}
InferParser::~InferParser() = default;

Status InferParser::parse(const InferBody& body, InferRequest& out) {
  out.clear();
  return impl_->parse(body, out);
}

Status InferParser::Impl::parse(const InferBody& body, InferRequest& out) {
  TAUTO_ASSIGN_OR_RETURN(const std::size_t json_size, json_length(body));
  if (json_size == 0) {
    out.raw = true;
    out.raw_bytes = body.bytes;
    out.binary_data_output = true;
    return Unit{};
  }
  const std::string_view json(reinterpret_cast<const char*>(body.bytes.data()), json_size);
  binary_sizes.clear();
  TAUTO_RETURN_IF_ERROR(parse_json(json, out));
  return view_binary(body, json_size, out);
}

/// Grown by doubling, since simdjson itself grows to the exact size, again and again.
Status InferParser::Impl::make_room(std::size_t json_size) {
  if (simdjson.capacity() > kParserKeepMax && json_size <= kParserKeepMax) {
    simdjson = ondemand::parser();
  }
  if (simdjson.capacity() >= json_size) return Unit{};
  const std::size_t room = std::max(kParserMin, std::bit_ceil(json_size));
  if (const auto code = simdjson.allocate(room)) {
    return Error{Code::kResourceExhausted, std::string("no memory to read the request's JSON: ") +
                                               simdjson::error_message(code)};
  }
  return Unit{};
}

Status InferParser::Impl::parse_json(std::string_view json, InferRequest& out) {
  TAUTO_RETURN_IF_ERROR(make_room(json.size()));
  ondemand::document document;
  const auto code = simdjson.iterate(json, json.size() + simdjson::SIMDJSON_PADDING).get(document);
  if (code) {
    return invalid(std::string("failed to parse the request JSON buffer: ") +
                   simdjson::error_message(code));
  }
  const JsonSource source{json, document, out.arena};
  return read_infer_json(source, binary_sizes, out);
}

Status InferParser::Impl::view_binary(const InferBody& body, std::size_t json_size,
                                      InferRequest& out) {
  auto rest = body.bytes.subspan(json_size);
  auto size = binary_sizes.begin();
  for (InferInput& input : out.inputs) {
    if (!input.binary) continue;
    TensorView& tensor = input.tensor;
    if (*size > rest.size()) {
      return invalid("unexpected size for input '" + std::string(input.name) + "', expecting " +
                     std::to_string(*size - rest.size()) + " additional bytes for model '" +
                     std::string(body.model) + "'");
    }
    tensor.bytes = rest.first(*size);
    rest = rest.subspan(*size);
    ++size;
    const std::int64_t elements = tensor.shape.element_count().value_or(-1);
    const std::size_t each = byte_size(tensor.type);
    if (each == 0) {
      if (!bytes_fit(tensor.bytes, elements)) {
        return invalid(request_id_prefix(out.id) + "the BYTES of input '" +
                       std::string(input.name) + "' for model '" + std::string(body.model) +
                       "' are not " + std::to_string(elements) +
                       " elements, each its length (4 bytes, little-endian) and so many bytes");
      }
    } else if (tensor.bytes.size() / each != static_cast<std::size_t>(elements) ||
               tensor.bytes.size() % each != 0) {
      return invalid(request_id_prefix(out.id) + "input byte size mismatch for input '" +
                     std::string(input.name) + "' for model '" + std::string(body.model) +
                     "'. Expected " + std::to_string(static_cast<std::size_t>(elements) * each) +
                     ", got " + std::to_string(tensor.bytes.size()));
    }
    if (reinterpret_cast<std::uintptr_t>(tensor.bytes.data()) % body.tensor_alignment != 0) {
      auto* copy = out.arena.allocate(tensor.bytes.size());
      std::memcpy(copy, tensor.bytes.data(), tensor.bytes.size());
      tensor.bytes = {copy, tensor.bytes.size()};
    }
  }
  if (!rest.empty()) {
    return invalid("unexpected additional input data for model '" + std::string(body.model) + "'");
  }
  return Unit{};
}

void InferRequest::clear() {
  id = {};
  raw = false;
  raw_bytes = {};
  inputs.clear();
  outputs.clear();
  binary_data_output = false;
  priority.reset();
  timeout.reset();
  deadline.reset();
  sequence_id = std::monostate{};
  sequence_start = false;
  sequence_end = false;
  labels.clear();
  parameters.clear();
  arena.reset();
}

std::string request_id_prefix(std::string_view id) {
  return "[request id: " + std::string(id.empty() ? "<id_unknown>" : id) + "] ";
}

}  // namespace tauto::wire
