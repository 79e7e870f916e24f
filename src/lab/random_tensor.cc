#include "lab/random_tensor.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <string_view>

namespace tauto::lab {
namespace {

constexpr std::size_t kWordBytes = 8;

template <class T>
void append(std::string& out, T value) {
  std::array<char, sizeof value> bytes;
  std::memcpy(bytes.data(), &value, sizeof value);
  out.append(bytes.data(), bytes.size());
}

std::uint64_t random_integer(DataType type, std::int64_t int_max, SplitMix64& random) {
  std::uint64_t high = static_cast<std::uint64_t>(std::max<std::int64_t>(int_max, 0));
  switch (type) {
    case DataType::kBool:
      high = 1;
      break;
    case DataType::kInt8:
      high = std::min<std::uint64_t>(high, 127);
      break;
    case DataType::kUint8:
      high = std::min<std::uint64_t>(high, 255);
      break;
    case DataType::kInt16:
      high = std::min<std::uint64_t>(high, 32'767);
      break;
    case DataType::kUint16:
      high = std::min<std::uint64_t>(high, 65'535);
      break;
    case DataType::kInt32:
      high = std::min<std::uint64_t>(high, std::numeric_limits<std::int32_t>::max());
      break;
    case DataType::kUint32:
      high = std::min<std::uint64_t>(high, std::numeric_limits<std::uint32_t>::max());
      break;
    default:
      break;
  }
  return high == std::numeric_limits<std::uint64_t>::max() ? random.next()
                                                           : random.next() % (high + 1);
}

/// In [0, 1).
double random_fraction(SplitMix64& random) {
  return static_cast<double>(random.next() >> 11) * 0x1.0p-53;
}

std::array<char, kWordBytes> random_word(SplitMix64& random) {
  std::array<char, kWordBytes> word;
  auto bits = random.next();
  for (auto& letter : word) {
    letter = static_cast<char>('a' + bits % 26);
    bits /= 26;
  }
  return word;
}

}  // namespace

void append_random_binary(std::string& out, const TensorSpec& tensor, std::int64_t int_max,
                          SplitMix64& random) {
  const auto count = tensor.dims.element_count().value();
  out.reserve(out.size() +
              static_cast<std::size_t>(count) * std::max<std::size_t>(byte_size(tensor.type), 1));
  for (std::int64_t i = 0; i < count; ++i) {
    switch (tensor.type) {
      case DataType::kFp32:
        append(out, static_cast<float>(random.next() >> 40) * 0x1.0p-24f);
        break;
      case DataType::kFp64:
        append(out, random_fraction(random));
        break;
      case DataType::kFp16:  // exponent of [0.5, 1), ten random bits of fraction
        append(out, static_cast<std::uint16_t>(0x3800u | (random.next() & 0x3ffu)));
        break;
      case DataType::kBf16:
        append(out, static_cast<std::uint16_t>(0x3f00u | (random.next() & 0x7fu)));
        break;
      case DataType::kBytes: {
        const auto word = random_word(random);
        append(out, static_cast<std::uint32_t>(word.size()));
        out.append(word.data(), word.size());
        break;
      }
      default: {
        // Little-endian: the low bytes are the value of any narrower type.
        const auto value = random_integer(tensor.type, int_max, random);
        std::array<char, sizeof value> bytes;
        std::memcpy(bytes.data(), &value, sizeof value);
        out.append(bytes.data(), byte_size(tensor.type));
      }
    }
  }
}

void write_random_json(JsonWriter& json, const TensorSpec& tensor, std::int64_t int_max,
                       SplitMix64& random) {
  const auto count = tensor.dims.element_count().value();
  json.begin_array();
  for (std::int64_t i = 0; i < count; ++i) {
    switch (tensor.type) {
      case DataType::kFp32:
        json.value(static_cast<float>(random.next() >> 40) * 0x1.0p-24f);
        break;
      case DataType::kFp64:
        json.value(random_fraction(random));
        break;
      case DataType::kBool:
        json.value((random.next() & 1) != 0);
        break;
      case DataType::kBytes: {
        const auto word = random_word(random);
        json.value(std::string_view(word.data(), word.size()));
        break;
      }
      default:
        json.value(random_integer(tensor.type, int_max, random));
    }
  }
  json.end_array();
}

}  // namespace tauto::lab
