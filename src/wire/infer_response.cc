#include "wire/infer_response.h"

#include <charconv>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <cstring>

#include "base/json_writer.h"

namespace tauto::wire {
namespace {

constexpr std::size_t kNumberMax = 32;  // longest text of one number, and its comma

template <std::floating_point F>
char* append_number(char* p, F number) {
  if (!std::isfinite(number)) {
    const std::string_view text = std::isnan(number) ? "NaN"
                                  : number > 0       ? "Infinity"
                                                     : "-Infinity";
    std::memcpy(p, text.data(), text.size());
    return p + text.size();
  }
  char* const end = std::to_chars(p, p + kNumberMax, number).ptr;
  for (const char* q = p; q != end; ++q) {
    if (*q == '.' || *q == 'e') return end;
  }
  end[0] = '.';  // stays a float in languages that tell 1 from 1.0
  end[1] = '0';
  return end + 2;
}

template <std::integral I>
char* append_number(char* p, I number) {
  return std::to_chars(p, p + kNumberMax, number).ptr;
}

struct Bool {
  std::uint8_t value;
};
char* append_number(char* p, Bool flag) {
  const std::string_view text = flag.value != 0 ? "true" : "false";
  std::memcpy(p, text.data(), text.size());
  return p + text.size();
}

/// Formats into a block on the stack, so that the string grows by blocks and not by numbers.
template <class T>
void append_numbers(std::span<const std::byte> bytes, std::string& out) {
  char block[4096];
  char* p = block;
  for (std::size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
    if (block + sizeof block - p < static_cast<std::ptrdiff_t>(kNumberMax)) {
      out.append(block, p);
      p = block;
    }
    if (at != 0) *p++ = ',';
    T number;
    std::memcpy(&number, bytes.data() + at, sizeof number);
    p = append_number(p, number);
  }
  out.append(block, p);
}

/// False when the elements' lengths do not fit the bytes and the shape.
bool append_strings(std::span<const std::byte> bytes, std::int64_t elements, std::string& out) {
  for (std::int64_t i = 0; i < elements; ++i) {
    std::uint32_t length = 0;
    if (bytes.size() < sizeof length) return false;
    std::memcpy(&length, bytes.data(), sizeof length);
    bytes = bytes.subspan(sizeof length);
    if (bytes.size() < length) return false;
    if (i != 0) out += ',';
    append_json_string(out, {reinterpret_cast<const char*>(bytes.data()), length});
    bytes = bytes.subspan(length);
  }
  return bytes.empty();
}

Error size_error(std::string_view name) {
  return Error{Code::kInternal,
               "output tensor shape does not match size of output for '" + std::string(name) + "'"};
}

Status append_data(const InferOutput& output, std::string& out) {
  const TensorView& t = output.tensor;
  const std::int64_t elements = t.shape.element_count().value_or(-1);
  if (t.type == DataType::kBytes) {
    if (elements < 0 || !append_strings(t.bytes, elements, out)) return size_error(output.name);
    return Unit{};
  }
  const std::size_t each = byte_size(t.type);
  if (each == 0 || t.bytes.size() % each != 0 ||
      t.bytes.size() / each != static_cast<std::size_t>(elements)) {
    return size_error(output.name);
  }
  switch (t.type) {
    case DataType::kBool:
      append_numbers<Bool>(t.bytes, out);
      return Unit{};
    case DataType::kUint8:
      append_numbers<std::uint8_t>(t.bytes, out);
      return Unit{};
    case DataType::kUint16:
      append_numbers<std::uint16_t>(t.bytes, out);
      return Unit{};
    case DataType::kUint32:
      append_numbers<std::uint32_t>(t.bytes, out);
      return Unit{};
    case DataType::kUint64:
      append_numbers<std::uint64_t>(t.bytes, out);
      return Unit{};
    case DataType::kInt8:
      append_numbers<std::int8_t>(t.bytes, out);
      return Unit{};
    case DataType::kInt16:
      append_numbers<std::int16_t>(t.bytes, out);
      return Unit{};
    case DataType::kInt32:
      append_numbers<std::int32_t>(t.bytes, out);
      return Unit{};
    case DataType::kInt64:
      append_numbers<std::int64_t>(t.bytes, out);
      return Unit{};
    case DataType::kFp32:
      append_numbers<float>(t.bytes, out);
      return Unit{};
    case DataType::kFp64:
      append_numbers<double>(t.bytes, out);
      return Unit{};
    case DataType::kFp16:
    case DataType::kBf16:
    case DataType::kBytes:
    case DataType::kInvalid:
      break;
  }
  return Error{
      Code::kInvalidArgument,
      "sending " + std::string(protocol_name(t.type)) +
          " data via JSON is not supported. Please use the binary data format for output " +
          std::string(output.name)};
}

void append_integer(std::int64_t number, std::string& out) {
  char text[kNumberMax];
  out.append(text, append_number(text, number));
}

void append_value(const ParameterValue& value, std::string& out) {
  char text[kNumberMax];
  if (const auto* s = std::get_if<std::string_view>(&value)) {
    append_json_string(out, *s);
  } else if (const auto* b = std::get_if<bool>(&value)) {
    out += *b ? "true" : "false";
  } else if (const auto* i = std::get_if<std::int64_t>(&value)) {
    out.append(text, append_number(text, *i));
  } else if (const auto* u = std::get_if<std::uint64_t>(&value)) {
    out.append(text, append_number(text, *u));
  } else if (const auto* d = std::get_if<double>(&value)) {
    out.append(text, append_number(text, *d));
  }
}

void append_head(const InferResponse& response, std::string& out) {
  out += '{';
  if (!response.id.empty()) {
    out += "\"id\":";
    append_json_string(out, response.id);
    out += ',';
  }
  out += "\"model_name\":";
  append_json_string(out, response.model_name);
  out += ",\"model_version\":";
  append_json_string(out, response.model_version);
  if (!response.parameters.empty()) {
    char separator = '{';
    out += ",\"parameters\":";
    for (const Parameter& p : response.parameters) {
      out += separator;
      separator = ',';
      append_json_string(out, p.name);
      out += ':';
      append_value(p.value, out);
    }
    out += '}';
  }
}

Status append_output(const InferOutput& output, std::string& out) {
  const TensorView& t = output.tensor;
  out += "{\"name\":";
  append_json_string(out, output.name);
  out += ",\"datatype\":\"";
  out += protocol_name(t.type);
  out += "\",\"shape\":[";
  for (std::size_t i = 0; i < t.shape.rank(); ++i) {
    if (i != 0) out += ',';
    append_integer(t.shape[i], out);
  }
  out += ']';
  if (output.binary) {
    out += ",\"parameters\":{\"binary_data_size\":";
    append_integer(static_cast<std::int64_t>(t.bytes.size()), out);
    out += "}}";
    return Unit{};
  }
  out += ",\"data\":[";
  TAUTO_RETURN_IF_ERROR(append_data(output, out));
  out += "]}";
  return Unit{};
}

}  // namespace

Status write_infer_response(const InferResponse& response, std::string& json,
                            std::vector<std::span<const std::byte>>& binary) {
  const std::size_t json_before = json.size();
  const std::size_t binary_before = binary.size();
  append_head(response, json);
  json += ",\"outputs\":[";
  for (std::size_t i = 0; i < response.outputs.size(); ++i) {
    const InferOutput& output = response.outputs[i];
    if (i != 0) json += ',';
    auto status = append_output(output, json);
    if (!status.ok()) {
      json.resize(json_before);
      binary.resize(binary_before);
      return status;
    }
    if (output.binary) binary.push_back(output.tensor.bytes);
  }
  json += "]}";
  return Unit{};
}

}  // namespace tauto::wire
