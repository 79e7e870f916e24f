#pragma once
// Memory for tensors: 64-byte aligned, grows, never shrinks, contents not kept on growth.

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>

namespace tauto {

/// Threads: one owner at a time. After the first requests of a model it allocates nothing.
class AlignedBuffer {
 public:
  static constexpr std::size_t kAlignment = 64;

  AlignedBuffer() = default;
  std::byte* data() { return memory_.get(); }
  const std::byte* data() const { return memory_.get(); }
  std::size_t capacity() const { return capacity_; }

  /// At least `bytes` usable bytes; earlier contents are lost when it has to grow.
  std::byte* reserve(std::size_t bytes) {
    if (bytes > capacity_) {
      const std::size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
      memory_.reset();
      capacity_ = 0;
      void* p = std::aligned_alloc(kAlignment, rounded);
      if (p == nullptr) throw std::bad_alloc();
      memory_.reset(static_cast<std::byte*>(p));
      capacity_ = rounded;
    }
    return memory_.get();
  }

 private:
  struct Free {
    void operator()(std::byte* p) const { std::free(p); }
  };
  std::unique_ptr<std::byte, Free> memory_;
  std::size_t capacity_ = 0;
};

}  // namespace tauto
