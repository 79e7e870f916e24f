#pragma once
// BYTES tensors: the protocol's <u32 length><bytes> a row after the other, ONNX Runtime's arrays of
// std::string. Inner header of engine/onnx.

#include <span>

#include "core/buffer.h"
#include "core/tensor.h"
#include "engine/onnx/ort.h"

namespace tauto::engine::onnx {

/// Kept from run to run for its capacity.
struct StringScratch {
  std::vector<std::size_t> offsets;
  AlignedBuffer text;
};

/// One string tensor of `shape` out of the elements of `parts`, in order. Errors: kInvalidArgument
/// when they are not as many as the shape says or are cut short.
Result<OrtPtr<OrtValue>> string_tensor(const OrtApi& api, const Shape& shape,
                                       std::span<const TensorView> parts);

/// The strings of `value` in the protocol's form, in `out`.
Result<std::span<const std::byte>> string_bytes(const OrtApi& api, const OrtValue* value,
                                                std::size_t elements, AlignedBuffer& out,
                                                StringScratch& scratch);

/// Bytes that the first `elements` strings of `bytes` take. Requires: well-formed, at least so
/// many.
std::size_t bytes_of_strings(std::span<const std::byte> bytes, std::size_t elements);

/// Errors: kInternal when the engine made a tensor of more dimensions than we carry.
Result<Shape> shape_of(const OrtApi& api, const OrtValue* value);

}  // namespace tauto::engine::onnx
