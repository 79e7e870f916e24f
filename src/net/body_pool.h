#pragma once
// Memory for request bodies: 64-byte aligned, padded at the end so that SIMD parsers may read past
// it, and kept for the next request. Not thread-safe: one pool a loop, used on its thread.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace tauto::net {

class BodyPool;

/// Owns one block; gives it back to its pool. Must be dropped on the pool's thread (or after that
/// thread was joined) and before the pool.
class BodyHandle {
 public:
  BodyHandle() = default;
  BodyHandle(BodyHandle&& other) noexcept
      : pool_(other.pool_),
        block_(std::exchange(other.block_, nullptr)),
        capacity_(std::exchange(other.capacity_, 0)),
        start_(other.start_),
        size_(std::exchange(other.size_, 0)) {}
  BodyHandle& operator=(BodyHandle&& other) noexcept {
    if (this != &other) {
      reset();
      pool_ = other.pool_;
      block_ = std::exchange(other.block_, nullptr);
      capacity_ = std::exchange(other.capacity_, 0);
      start_ = other.start_;
      size_ = std::exchange(other.size_, 0);
    }
    return *this;
  }
  ~BodyHandle() { reset(); }

  /// The body. At least BodyPool::kPadding readable bytes follow it.
  std::span<const std::byte> bytes() const { return {block_ + start_, size_}; }
  bool empty() const { return size_ == 0; }
  void reset();

 private:
  friend class BodyPool;
  friend class BodyWriter;
  BodyPool* pool_ = nullptr;
  std::byte* block_ = nullptr;
  std::size_t capacity_ = 0;  // usable bytes from block_, padding not counted
  std::size_t start_ = 0;     // where the body begins: chosen so that its tensors are aligned
  std::size_t size_ = 0;
};

/// Keeps at most `kept_bytes_max` of idle blocks of up to 4 MiB; larger ones go back to malloc.
class BodyPool {
 public:
  static constexpr std::size_t kAlignment = 64;
  static constexpr std::size_t kPadding = 64;

  explicit BodyPool(std::size_t kept_bytes_max = std::size_t{16} << 20)
      : kept_bytes_max_(kept_bytes_max) {}
  ~BodyPool();
  BodyPool(const BodyPool&) = delete;
  BodyPool& operator=(const BodyPool&) = delete;

  /// An empty body with room for `bytes` after `start`. Contents are not cleared.
  BodyHandle take(std::size_t bytes, std::size_t start = 0);
  std::size_t kept_bytes() const { return kept_bytes_; }

 private:
  friend class BodyHandle;
  static constexpr std::size_t kClassShiftMin = 12;  // 4 KiB
  static constexpr std::size_t kClassShiftMax = 22;  // 4 MiB
  void give_back(std::byte* block, std::size_t capacity);

  std::array<std::vector<std::byte*>, kClassShiftMax - kClassShiftMin + 1> free_;
  std::size_t kept_bytes_max_;
  std::size_t kept_bytes_ = 0;
};

/// Appends to a body, growing it geometrically with what has really arrived.
class BodyWriter {
 public:
  /// Room for the next bytes, at most `wanted`, never empty when wanted > 0.
  static std::span<std::byte> space(BodyHandle& body, std::size_t wanted);
  static void commit(BodyHandle& body, std::size_t bytes) { body.size_ += bytes; }
  static void append(BodyHandle& body, std::span<const std::byte> bytes);
};

}  // namespace tauto::net
