#include "wire/json_tensor.h"

#include <cmath>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>

#include "wire/infer_request.h"

namespace tauto::wire {
namespace {

bool is_array(ondemand::value& value) {
  ondemand::json_type type;
  return value.type().get(type) == simdjson::SUCCESS && type == ondemand::json_type::array;
}

Error count_error(const JsonTensor& t, std::string got) {
  return Error{Code::kInvalidArgument,
               "Unable to parse 'data': Shape does not match true shape of 'data' field (input '" +
                   std::string(t.name) + "': shape " + t.shape.to_string() + " has " +
                   std::to_string(t.elements) + " elements, the data " + std::move(got) + ")"};
}

/// NaN and the infinities, which are no JSON but which Python's json and Triton's clients write.
bool special_double(ondemand::value& value, double& out) {
  std::string_view token = value.raw_json_token();
  while (!token.empty() && static_cast<unsigned char>(token.back()) <= ' ') token.remove_suffix(1);
  const bool negative = !token.empty() && token.front() == '-';
  if (negative) token.remove_prefix(1);
  if (token == "NaN" && !negative) {
    out = std::numeric_limits<double>::quiet_NaN();
  } else if (token == "Infinity" || token == "Inf") {
    out = negative ? -std::numeric_limits<double>::infinity()
                   : std::numeric_limits<double>::infinity();
  } else {
    return false;
  }
  return true;
}

struct Bool {  // a tensor's BOOL: one byte, 0 or 1
  std::uint8_t value;
};

bool convert(ondemand::value& value, double& out) {
  return value.get_double().get(out) == simdjson::SUCCESS || special_double(value, out);
}

bool convert(ondemand::value& value, float& out) {
  double number = 0;
  if (!convert(value, number)) return false;
  // From here on a double rounds to infinity: FLT_MAX and half its last place.
  constexpr double kTooLarge = 0x1.ffffffp127;
  if (std::isfinite(number) && std::abs(number) >= kTooLarge) return false;
  out = static_cast<float>(number);
  return true;
}

bool convert(ondemand::value& value, Bool& out) {
  bool flag = false;
  if (value.get_bool().get(flag) == simdjson::SUCCESS) {
    out.value = flag ? 1 : 0;
    return true;
  }
  std::uint64_t number = 0;
  if (value.get_uint64().get(number) != simdjson::SUCCESS || number > 1) return false;
  out.value = static_cast<std::uint8_t>(number);
  return true;
}

bool convert(ondemand::value& value, std::uint64_t& out) {
  return value.get_uint64().get(out) == simdjson::SUCCESS;
}

template <std::integral I>
bool convert(ondemand::value& value, I& out) {
  std::int64_t number = 0;
  if (value.get_int64().get(number) != simdjson::SUCCESS) return false;
  if (!std::in_range<I>(number)) return false;
  out = static_cast<I>(number);
  return true;
}

template <class T>
std::string expected_text() {
  if constexpr (std::same_as<T, Bool>) {
    return "true, false, 0 or 1";
  } else if constexpr (std::same_as<T, float>) {
    return "a number within FP32's range";
  } else if constexpr (std::same_as<T, double>) {
    return "a number";
  } else {
    return "a whole number from " + std::to_string(std::numeric_limits<T>::min()) + " to " +
           std::to_string(std::numeric_limits<T>::max());
  }
}

using Bytes = std::span<const std::byte>;

/// Writes numbers or booleans to where the tensor will be.
template <class T>
struct NumberSink {
  std::byte* const start;
  std::size_t index = 0;

  bool take(ondemand::value& value) {
    T number{};
    if (!convert(value, number)) return false;
    std::memcpy(start + index * sizeof(T), &number, sizeof(T));
    ++index;
    return true;
  }
  static std::string expected() { return expected_text<T>(); }
  std::size_t size() const { return index * sizeof(T); }
};

/// Writes each string behind its length.
struct StringSink {
  std::byte* const start;
  std::byte* end;
  std::size_t index = 0;

  bool take(ondemand::value& value) {
    std::string_view text;
    if (value.get_string().get(text)) return false;
    const auto length = static_cast<std::uint32_t>(text.size());
    std::memcpy(end, &length, sizeof length);
    if (length != 0) std::memcpy(end + sizeof length, text.data(), length);
    end += sizeof length + length;
    ++index;
    return true;
  }
  static std::string expected() { return "a string"; }
  std::size_t size() const { return static_cast<std::size_t>(end - start); }
};

/// Walks nested arrays in row-major order. A scalar is tried first, since nearly all values are.
template <class Sink>
Status walk(const JsonSource& source, const JsonTensor& t, ondemand::array array, std::size_t depth,
            Sink& sink) {
  if (depth > InferLimits::kDepthMax) return source.broken(simdjson::DEPTH_ERROR);
  for (auto item : array) {
    ondemand::value value;
    if (const auto code = std::move(item).get(value)) return source.broken(code);
    if (sink.index != t.elements && sink.take(value)) [[likely]]
      continue;
    if (is_array(value)) {
      ondemand::array inner;
      if (const auto code = value.get_array().get(inner)) return source.broken(code);
      TAUTO_RETURN_IF_ERROR(walk(source, t, inner, depth + 1, sink));
      continue;
    }
    if (sink.index == t.elements) return count_error(t, "has more");
    return source.wrong(
        "'data' of input '" + std::string(t.name) + "', element " + std::to_string(sink.index),
        Sink::expected(), value);
  }
  return Unit{};
}

template <class Sink>
Result<Bytes> read_with(Sink sink, const JsonSource& source, const JsonTensor& t,
                        ondemand::array data) {
  TAUTO_RETURN_IF_ERROR(walk(source, t, data, t.depth, sink));
  if (sink.index != t.elements) return count_error(t, "has " + std::to_string(sink.index));
  source.arena.commit(sink.size());
  return Bytes(sink.start, sink.size());
}

template <class T>
Result<Bytes> read_numbers(const JsonSource& source, const JsonTensor& t, ondemand::array data) {
  std::byte* const start = source.arena.reserve(t.elements * sizeof(T));
  return read_with(NumberSink<T>{start}, source, t, data);
}

/// Room for every text that can still follow, since unescaped text is never longer than escaped.
Result<Bytes> read_strings(const JsonSource& source, const JsonTensor& t, ondemand::array data) {
  const std::size_t size_max = t.elements * sizeof(std::uint32_t) + source.text.size();
  std::byte* const start = source.arena.reserve(size_max, 2 * size_max);
  return read_with(StringSink{start, start}, source, t, data);
}

}  // namespace

Result<std::span<const std::byte>> read_json_tensor(const JsonSource& source, const JsonTensor& t,
                                                    ondemand::array data) {
  // An element is at least two characters long, so a larger shape cannot be true.
  if (t.elements > source.text.size() / 2 + 1) return count_error(t, "cannot have so many");
  switch (t.type) {
    case DataType::kBool:
      return read_numbers<Bool>(source, t, data);
    case DataType::kUint8:
      return read_numbers<std::uint8_t>(source, t, data);
    case DataType::kUint16:
      return read_numbers<std::uint16_t>(source, t, data);
    case DataType::kUint32:
      return read_numbers<std::uint32_t>(source, t, data);
    case DataType::kUint64:
      return read_numbers<std::uint64_t>(source, t, data);
    case DataType::kInt8:
      return read_numbers<std::int8_t>(source, t, data);
    case DataType::kInt16:
      return read_numbers<std::int16_t>(source, t, data);
    case DataType::kInt32:
      return read_numbers<std::int32_t>(source, t, data);
    case DataType::kInt64:
      return read_numbers<std::int64_t>(source, t, data);
    case DataType::kFp32:
      return read_numbers<float>(source, t, data);
    case DataType::kFp64:
      return read_numbers<double>(source, t, data);
    case DataType::kBytes:
      return read_strings(source, t, data);
    case DataType::kFp16:
    case DataType::kBf16:
    case DataType::kInvalid:
      break;
  }
  return Error{Code::kInvalidArgument,
               "receiving " + std::string(protocol_name(t.type)) +
                   " data via JSON is not supported. Please use the binary data format for input " +
                   std::string(t.name)};
}

}  // namespace tauto::wire
