#pragma once
// A request body as the server hands it over: 64-byte aligned, 64 readable bytes behind it. Those
// hold digits, so that a number which ran past the end would change its value.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/buffer.h"
#include "wire/infer_request.h"

namespace tauto::wire::testing {

class Body {
 public:
  explicit Body(std::string_view json, std::string_view binary = {}) : json_size_(json.size()) {
    size_ = json.size() + binary.size();
    auto* p = reinterpret_cast<char*>(memory_.reserve(size_ + 64));
    if (!json.empty()) std::memcpy(p, json.data(), json.size());
    if (!binary.empty()) std::memcpy(p + json.size(), binary.data(), binary.size());
    std::memset(p + size_, '9', 64);
    if (!binary.empty()) header_ = std::to_string(json_size_);
  }
  Body& header(std::string text) {
    header_ = std::move(text);
    return *this;
  }
  InferBody view() const {
    return {.bytes = {memory_.data(), size_}, .header_length = header_, .model = "m"};
  }
  const std::byte* binary() const { return memory_.data() + json_size_; }

 private:
  AlignedBuffer memory_;
  std::size_t json_size_;
  std::size_t size_ = 0;
  std::optional<std::string> header_;
};

template <class T>
std::vector<T> values_of(const InferInput& input) {
  std::vector<T> values(input.tensor.bytes.size() / sizeof(T));
  if (!values.empty()) {
    std::memcpy(values.data(), input.tensor.bytes.data(), values.size() * sizeof(T));
  }
  return values;
}

inline std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// `count` times u32 length and text.
inline std::string as_bytes(std::initializer_list<std::string_view> texts) {
  std::string out;
  for (const auto text : texts) {
    const auto length = static_cast<std::uint32_t>(text.size());
    out.append(reinterpret_cast<const char*>(&length), sizeof length);
    out += text;
  }
  return out;
}

}  // namespace tauto::wire::testing
