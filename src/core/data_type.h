#pragma once
// The element types of the KServe v2 protocol and of Triton's config.pbtxt, with one table.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tauto {

/// Values equal Triton's DataType enum (config.pbtxt), so that a config number needs no table.
enum class DataType : std::uint8_t {
  kInvalid = 0,
  kBool = 1,
  kUint8 = 2,
  kUint16 = 3,
  kUint32 = 4,
  kUint64 = 5,
  kInt8 = 6,
  kInt16 = 7,
  kInt32 = 8,
  kInt64 = 9,
  kFp16 = 10,
  kFp32 = 11,
  kFp64 = 12,
  kBytes = 13,  // TYPE_STRING in a config; each element is <u32 length, little-endian><bytes>
  kBf16 = 14,
};
inline constexpr std::size_t kDataTypeCount = 15;

/// Bytes of one element; 0 for kBytes (variable) and kInvalid.
std::size_t byte_size(DataType type);
/// "FP32", "BYTES": the protocol's name. "<invalid>" for kInvalid.
std::string_view protocol_name(DataType type);
/// "TYPE_FP32", "TYPE_STRING": the config's name.
std::string_view config_name(DataType type);
std::optional<DataType> data_type_from_protocol(std::string_view name);

}  // namespace tauto
