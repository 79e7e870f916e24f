#include "core/data_type.h"

#include <array>

namespace tauto {
namespace {

struct Row {
  std::size_t bytes;
  std::string_view protocol;
  std::string_view config;
};

constexpr std::array<Row, kDataTypeCount> kRows{{{0, "<invalid>", "TYPE_INVALID"},
                                                 {1, "BOOL", "TYPE_BOOL"},
                                                 {1, "UINT8", "TYPE_UINT8"},
                                                 {2, "UINT16", "TYPE_UINT16"},
                                                 {4, "UINT32", "TYPE_UINT32"},
                                                 {8, "UINT64", "TYPE_UINT64"},
                                                 {1, "INT8", "TYPE_INT8"},
                                                 {2, "INT16", "TYPE_INT16"},
                                                 {4, "INT32", "TYPE_INT32"},
                                                 {8, "INT64", "TYPE_INT64"},
                                                 {2, "FP16", "TYPE_FP16"},
                                                 {4, "FP32", "TYPE_FP32"},
                                                 {8, "FP64", "TYPE_FP64"},
                                                 {0, "BYTES", "TYPE_STRING"},
                                                 {2, "BF16", "TYPE_BF16"}}};

const Row& row(DataType type) { return kRows[static_cast<std::size_t>(type)]; }

}  // namespace

std::size_t byte_size(DataType type) { return row(type).bytes; }
std::string_view protocol_name(DataType type) { return row(type).protocol; }
std::string_view config_name(DataType type) { return row(type).config; }

std::optional<DataType> data_type_from_protocol(std::string_view name) {
  for (std::size_t i = 1; i < kRows.size(); ++i) {
    if (kRows[i].protocol == name) return static_cast<DataType>(i);
  }
  return std::nullopt;
}

}  // namespace tauto
