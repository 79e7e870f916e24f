#include "engine/onnx/strings.h"

#include <array>
#include <cstring>

namespace tauto::engine::onnx {
namespace {

constexpr std::size_t kPrefix = sizeof(std::uint32_t);

std::uint32_t length_at(std::span<const std::byte> bytes) {
  std::uint32_t length = 0;
  std::memcpy(&length, bytes.data(), kPrefix);
  return length;
}

}  // namespace

Result<OrtPtr<OrtValue>> string_tensor(const OrtApi& api, const Shape& shape,
                                       std::span<const TensorView> parts) {
  OrtAllocator* allocator = nullptr;
  TAUTO_RETURN_IF_ERROR(check(api, api.GetAllocatorWithDefaultOptions(&allocator)));
  const auto elements = static_cast<std::size_t>(shape.element_count().value_or(0));
  std::size_t bytes_given = 0;
  for (const auto& part : parts) bytes_given += part.bytes.size();
  if (bytes_given / kPrefix < elements) {  // before memory is taken for them
    return Error{Code::kInvalidArgument, std::to_string(bytes_given) + " bytes cannot hold " +
                                             std::to_string(elements) + " strings"};
  }
  TAUTO_ASSIGN_OR_RETURN(
      auto value,
      make<OrtValue>(api, api.ReleaseValue, api.CreateTensorAsOrtValue, allocator,
                     shape.dims().data(), shape.rank(), ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING));
  std::size_t at = 0;
  for (const auto& part : parts) {
    auto bytes = part.bytes;
    const auto end = at + static_cast<std::size_t>(part.shape.element_count().value_or(0));
    for (; !bytes.empty(); ++at) {
      if (at == end) return Error{Code::kInvalidArgument, "more strings than the shape says"};
      if (bytes.size() < kPrefix || bytes.size() - kPrefix < length_at(bytes)) {
        return Error{Code::kInvalidArgument, "a string is cut short"};
      }
      const std::size_t length = length_at(bytes);
      char* to = nullptr;
      TAUTO_RETURN_IF_ERROR(
          check(api, api.GetResizedStringTensorElementBuffer(value.get(), at, length, &to)));
      if (length > 0) std::memcpy(to, bytes.data() + kPrefix, length);
      bytes = bytes.subspan(kPrefix + length);
    }
    if (at != end) return Error{Code::kInvalidArgument, "fewer strings than the shape says"};
  }
  return value;
}

Result<std::span<const std::byte>> string_bytes(const OrtApi& api, const OrtValue* value,
                                                std::size_t elements, AlignedBuffer& out,
                                                StringScratch& scratch) {
  std::size_t length = 0;
  TAUTO_RETURN_IF_ERROR(check(api, api.GetStringTensorDataLength(value, &length)));
  if (elements == 0) return std::span<const std::byte>{};
  scratch.offsets.resize(elements + 1);
  std::byte* const text = scratch.text.reserve(length + 1);
  TAUTO_RETURN_IF_ERROR(check(
      api, api.GetStringTensorContent(value, text, length, scratch.offsets.data(), elements)));
  scratch.offsets[elements] = length;
  std::byte* const begin = out.reserve(length + elements * kPrefix);
  std::byte* to = begin;
  for (std::size_t e = 0; e < elements; ++e) {
    const std::size_t from = scratch.offsets[e];
    const auto size = static_cast<std::uint32_t>(scratch.offsets[e + 1] - from);
    std::memcpy(to, &size, kPrefix);
    std::memcpy(to + kPrefix, text + from, size);
    to += kPrefix + size;
  }
  return std::span<const std::byte>(begin, static_cast<std::size_t>(to - begin));
}

std::size_t bytes_of_strings(std::span<const std::byte> bytes, std::size_t elements) {
  std::size_t at = 0;
  for (std::size_t e = 0; e < elements; ++e) at += kPrefix + length_at(bytes.subspan(at));
  return at;
}

Result<Shape> shape_of(const OrtApi& api, const OrtValue* value) {
  TAUTO_ASSIGN_OR_RETURN(const auto info,
                         make<OrtTensorTypeAndShapeInfo>(api, api.ReleaseTensorTypeAndShapeInfo,
                                                         api.GetTensorTypeAndShape, value));
  std::size_t rank = 0;
  TAUTO_RETURN_IF_ERROR(check(api, api.GetDimensionsCount(info.get(), &rank)));
  if (!Shape::fits(rank)) {
    return Error{Code::kInternal, "an output has " + std::to_string(rank) + " dimensions"};
  }
  std::array<std::int64_t, Shape::kRankMax> dims{};
  TAUTO_RETURN_IF_ERROR(check(api, api.GetDimensions(info.get(), dims.data(), rank)));
  return Shape(std::span<const std::int64_t>(dims.data(), rank));
}

}  // namespace tauto::engine::onnx
