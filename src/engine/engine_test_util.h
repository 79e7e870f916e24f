#pragma once
// Clocks and batches for the tests of this room.

#include <gtest/gtest.h>
#include <time.h>

#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include "engine/engine.h"

namespace tauto::engine::testing {

class RealTime final : public TimeSource {
 public:
  Instant now() const override {
    timespec t{};
    ::clock_gettime(CLOCK_MONOTONIC, &t);
    return instant_at_ns(std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec);
  }
};

/// Goes on by one microsecond each time it is read: spinning ends, and ends where it should.
class SteppingTime final : public TimeSource {
 public:
  static constexpr Duration kStep = std::chrono::microseconds(1);
  Instant now() const override { return now_ += kStep; }

 private:
  mutable Instant now_{};
};

template <class T>
DataType type_of() {
  if constexpr (std::is_same_v<T, float>) return DataType::kFp32;
  if constexpr (std::is_same_v<T, double>) return DataType::kFp64;
  if constexpr (std::is_same_v<T, std::int64_t>) return DataType::kInt64;
  if constexpr (std::is_same_v<T, std::int32_t>) return DataType::kInt32;
  if constexpr (std::is_same_v<T, std::uint8_t>) return DataType::kUint8;
  return DataType::kInvalid;
}

template <class T>
std::vector<T> values(const TensorView& view) {
  std::vector<T> out(view.bytes.size() / sizeof(T));
  if (!out.empty()) std::memcpy(out.data(), view.bytes.data(), out.size() * sizeof(T));
  return out;
}

inline std::string bytes_tensor(const std::vector<std::string>& strings) {
  std::string out;
  for (const auto& s : strings) {
    const auto size = static_cast<std::uint32_t>(s.size());
    out.append(reinterpret_cast<const char*>(&size), sizeof size).append(s);
  }
  return out;
}

inline std::string text_of(const TensorView& view) {
  return {reinterpret_cast<const char*>(view.bytes.data()), view.bytes.size()};
}

/// Owns requests' bytes and makes the Batch over them.
class Requests {
 public:
  /// Begins a request of `rows` rows; add() gives it its inputs in order.
  Requests& request(std::uint32_t rows) {
    requests_.push_back({rows, {}});
    return *this;
  }
  template <class T>
  Requests& add(Shape shape, const std::vector<T>& data) {
    return add_raw(type_of<T>(), shape,
                   {reinterpret_cast<const char*>(data.data()), data.size() * sizeof(T)});
  }
  Requests& add_raw(DataType type, Shape shape, std::string_view bytes) {
    // `shift_` bytes past an aligned address, to try misaligned views.
    auto& store = storage_.emplace_back();
    std::byte* const to = store.reserve(bytes.size() + shift_ + 1) + shift_;
    if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
    requests_.back().views.push_back({type, shape, {to, bytes.size()}});
    return *this;
  }
  Requests& absent() {
    requests_.back().views.emplace_back();
    return *this;
  }
  Requests& shift(std::size_t bytes) {
    shift_ = bytes;
    return *this;
  }
  Batch batch() {
    items_.clear();
    std::uint32_t rows = 0;
    for (const auto& r : requests_) {
      items_.push_back({r.rows, r.views});
      rows += r.rows;
    }
    return Batch{items_, rows};
  }
  const TensorView& view(std::size_t request, std::size_t input) const {
    return requests_[request].views[input];
  }

 private:
  struct One {
    std::uint32_t rows;
    std::vector<TensorView> views;
  };
  std::deque<AlignedBuffer> storage_;
  std::vector<One> requests_;
  std::vector<BatchItem> items_;
  std::size_t shift_ = 0;
};

inline void expect_ordered(const BatchTimes& times) {
  EXPECT_LE(times.bind_end, times.compute_end);
  EXPECT_LE(times.compute_end, times.unbind_end);
}

}  // namespace tauto::engine::testing
