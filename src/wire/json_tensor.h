#pragma once
// The `data` of one input: numbers, booleans or strings, flat or nested, to a tensor's bytes.

#include <cstddef>
#include <string_view>

#include "base/result.h"
#include "core/tensor.h"
#include "wire/json_reader_impl.h"

namespace tauto::wire {

struct JsonTensor {
  std::string_view name;  // of the input, for messages
  DataType type;
  Shape shape;
  std::size_t elements;  // of `shape`
  std::size_t depth;     // of `data` in the document
};

/// Converts `data` into the source's arena. Nothing larger than a small multiple of the document is
/// ever reserved, whatever the shape says. Numbers out of the type's range are refused; NaN,
/// Infinity and -Infinity are read, as Triton and Python's json do.
Result<std::span<const std::byte>> read_json_tensor(const JsonSource& source,
                                                    const JsonTensor& tensor, ondemand::array data);

}  // namespace tauto::wire
