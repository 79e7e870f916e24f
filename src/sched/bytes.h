#pragma once
// Fixed-width little-endian numbers into a string and out of hostile bytes.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "sched/events.h"

namespace tauto::sched {

class ByteWriter {
 public:
  explicit ByteWriter(std::string& out) : out_(out) {}

  void u8(std::uint8_t v) { out_.push_back(static_cast<char>(v)); }
  void flag(bool v) { u8(v ? 1 : 0); }
  void u32(std::uint32_t v) { put(v, 4); }
  void u64(std::uint64_t v) { put(v, 8); }
  void count(std::size_t v) { put(v, 8); }
  void duration(Duration v) { u64(static_cast<std::uint64_t>(to_ns(v))); }
  void instant(Instant v) { u64(static_cast<std::uint64_t>(to_ns(v))); }
  void maybe(const std::optional<std::uint32_t>& v) {
    flag(v.has_value());
    u32(v.value_or(0));
  }
  void maybe(const std::optional<Duration>& v) {
    flag(v.has_value());
    duration(v.value_or(Duration{}));
  }
  void maybe(const std::optional<Instant>& v) {
    flag(v.has_value());
    instant(v.value_or(Instant{}));
  }

 private:
  void put(std::uint64_t v, int bytes) {
    for (int i = 0; i < bytes; ++i) u8(static_cast<std::uint8_t>(v >> (8 * i)));
  }
  std::string& out_;
};

/// The first thing that does not fit sets `ok()` to false for good; then every read is zero.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}

  bool ok() const { return ok_; }
  bool at_end() const { return bytes_.empty(); }
  void fail() { ok_ = false; }
  void require(bool condition) { ok_ = ok_ && condition; }

  std::uint8_t u8() { return static_cast<std::uint8_t>(get(1)); }
  bool flag() { return enumerator<std::uint8_t>(1) == 1; }
  std::uint32_t u32() { return static_cast<std::uint32_t>(get(4)); }
  std::uint64_t u64() { return get(8); }
  /// How many items of at least `bytes_each` bytes follow.
  std::size_t count(std::size_t bytes_each) {
    const std::uint64_t n = u64();
    require(n <= bytes_.size() / bytes_each);
    return ok_ ? static_cast<std::size_t>(n) : 0;
  }
  template <class E>
  E enumerator(E last) {
    const std::uint8_t v = u8();
    require(v <= static_cast<std::uint8_t>(last));
    return ok_ ? static_cast<E>(v) : E{};
  }
  /// Beyond kTimeMax either way: refused, so that sums cannot overflow.
  Duration duration() {
    const Duration v{static_cast<std::int64_t>(get(8))};
    require(v >= -kTimeMax && v <= kTimeMax);
    return ok_ ? v : Duration{};
  }
  /// A duration >= 0.
  Duration length() {
    const Duration v = duration();
    require(v >= Duration::zero());
    return ok_ ? v : Duration{};
  }
  Instant instant() { return Instant{duration()}; }
  std::optional<std::uint32_t> maybe_u32() { return maybe(&ByteReader::u32); }
  std::optional<Duration> maybe_length() { return maybe(&ByteReader::length); }
  std::optional<Instant> maybe_instant() { return maybe(&ByteReader::instant); }

 private:
  template <class T>
  std::optional<T> maybe(T (ByteReader::*read)()) {
    const bool there = flag();
    const T v = (this->*read)();
    require(there || v == T{});  // one state, one spelling
    return there && ok_ ? std::optional<T>(v) : std::nullopt;
  }
  std::uint64_t get(std::size_t bytes) {
    require(bytes_.size() >= bytes);
    if (!ok_) return 0;
    std::uint64_t v = 0;
    for (std::size_t i = 0; i < bytes; ++i) {
      v |= std::uint64_t{static_cast<unsigned char>(bytes_[i])} << (8 * i);
    }
    bytes_.remove_prefix(bytes);
    return v;
  }

  std::string_view bytes_;
  bool ok_ = true;
};

}  // namespace tauto::sched
