#pragma once
// Writes small ONNX files for tests: a hand-made protobuf encoder of the few messages needed, so
// that tests need no network, no Python and no model.

#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tauto::engine::testing {

/// A protobuf message under construction.
class Proto {
 public:
  Proto& number(int field, std::uint64_t value) {
    varint(static_cast<std::uint64_t>(field) << 3);
    varint(value);
    return *this;
  }
  Proto& bytes(int field, std::string_view value) {
    varint(static_cast<std::uint64_t>(field) << 3 | 2);
    varint(value.size());
    out_ += value;
    return *this;
  }
  Proto& message(int field, const Proto& value) { return bytes(field, value.out_); }
  const std::string& text() const { return out_; }

 private:
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) out_ += static_cast<char>(value | 0x80);
    out_ += static_cast<char>(value);
  }
  std::string out_;
};

/// onnx.TensorProto.DataType
enum OnnxType : std::uint8_t {
  kOnnxFloat = 1,
  kOnnxUint8 = 2,
  kOnnxInt8 = 3,
  kOnnxUint16 = 4,
  kOnnxInt16 = 5,
  kOnnxInt32 = 6,
  kOnnxInt64 = 7,
  kOnnxString = 8,
  kOnnxBool = 9,
  kOnnxFloat16 = 10,
  kOnnxDouble = 11,
  kOnnxUint32 = 12,
  kOnnxUint64 = 13,
  kOnnxComplex64 = 14,
  kOnnxBfloat16 = 16,
};

/// A graph in construction. Dims: a number, or a name for a free one.
class OnnxFile {
 public:
  struct Dim {
    Dim(int fixed) : value(fixed) {}                      // NOLINT: reads as a number
    Dim(const char* symbol) : value(-1), name(symbol) {}  // NOLINT: reads as a name
    std::int64_t value;
    std::string name;
  };
  using Dims = std::vector<Dim>;

  OnnxFile& input(std::string_view name, OnnxType type, const Dims& dims) {
    graph_.message(11, value_info(name, type, dims));
    return *this;
  }
  OnnxFile& output(std::string_view name, OnnxType type, const std::optional<Dims>& dims) {
    graph_.message(12, value_info(name, type, dims));
    return *this;
  }
  OnnxFile& sequence_output(std::string_view name, OnnxType element) {
    const Proto tensor = Proto().message(1, Proto().number(1, element));
    graph_.message(
        12, Proto().bytes(1, name).message(2, Proto().message(4, Proto().message(1, tensor))));
    return *this;
  }
  OnnxFile& node(std::string_view op, const std::vector<std::string>& inputs,
                 const std::vector<std::string>& outputs,
                 const std::vector<std::pair<std::string, int>>& attributes = {}) {
    Proto node;
    for (const auto& name : inputs) node.bytes(1, name);
    for (const auto& name : outputs) node.bytes(2, name);
    node.bytes(4, op);
    for (const auto& [name, value] : attributes) {
      constexpr int kInt = 2;
      node.message(
          5, Proto().bytes(1, name).number(3, static_cast<std::uint64_t>(value)).number(20, kInt));
    }
    graph_.message(1, node);
    return *this;
  }
  template <class T>
  OnnxFile& constant(std::string_view name, OnnxType type, const std::vector<std::int64_t>& dims,
                     const std::vector<T>& data) {
    Proto tensor;
    for (const auto d : dims) tensor.number(1, static_cast<std::uint64_t>(d));
    tensor.number(2, type).bytes(8, name).bytes(
        9, {reinterpret_cast<const char*>(data.data()), data.size() * sizeof(T)});
    graph_.message(5, tensor);
    return *this;
  }
  std::string model() const {
    constexpr int kIrVersion = 8, kOpset = 13;
    Proto graph = graph_;
    graph.bytes(2, "g");
    return Proto()
        .number(1, kIrVersion)
        .message(8, Proto().bytes(1, "").number(2, kOpset))
        .message(7, graph)
        .text();
  }
  void write(const std::string& path) const { std::ofstream(path, std::ios::binary) << model(); }

 private:
  static Proto value_info(std::string_view name, OnnxType type, const std::optional<Dims>& dims) {
    Proto tensor;
    tensor.number(1, type);
    if (dims) {
      Proto shape;
      for (const auto& d : *dims) {
        Proto dim;
        if (d.value >= 0) dim.number(1, static_cast<std::uint64_t>(d.value));
        if (d.value < 0) dim.bytes(2, d.name);
        shape.message(1, dim);
      }
      tensor.message(2, shape);
    }
    return Proto().bytes(1, name).message(2, Proto().message(1, tensor));
  }

  Proto graph_;
};

}  // namespace tauto::engine::testing
