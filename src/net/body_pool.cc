#include "net/body_pool.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/check.h"

namespace tauto::net {
namespace {

constexpr std::size_t kFirstGuess = std::size_t{1} << 20;  // untouched pages cost nothing

std::byte* allocate(std::size_t capacity) {
  const std::size_t bytes =
      (capacity + BodyPool::kPadding + BodyPool::kAlignment - 1) & ~(BodyPool::kAlignment - 1);
  void* memory = std::aligned_alloc(BodyPool::kAlignment, bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return static_cast<std::byte*>(memory);
}

}  // namespace

void BodyHandle::reset() {
  if (block_ != nullptr) pool_->give_back(std::exchange(block_, nullptr), capacity_);
  capacity_ = 0;
  size_ = 0;
}

BodyPool::~BodyPool() {
  for (auto& list : free_) {
    for (std::byte* block : list) std::free(block);
  }
}

BodyHandle BodyPool::take(std::size_t bytes, std::size_t start) {
  TAUTO_CHECK(start < kAlignment);
  BodyHandle handle;
  handle.pool_ = this;
  handle.start_ = start;
  const std::size_t needed = std::max(bytes + start, std::size_t{1} << kClassShiftMin);
  const auto shift = static_cast<std::size_t>(std::bit_width(needed - 1));
  if (shift > kClassShiftMax) {
    handle.block_ = allocate(needed);
    handle.capacity_ = needed;
    return handle;
  }
  handle.capacity_ = std::size_t{1} << shift;
  auto& list = free_[shift - kClassShiftMin];
  if (list.empty()) {
    handle.block_ = allocate(handle.capacity_);
  } else {
    handle.block_ = list.back();
    list.pop_back();
    kept_bytes_ -= handle.capacity_;
  }
  return handle;
}

void BodyPool::give_back(std::byte* block, std::size_t capacity) {
  const auto shift = static_cast<std::size_t>(std::bit_width(capacity - 1));
  if (shift > kClassShiftMax || kept_bytes_ + capacity > kept_bytes_max_) {
    std::free(block);
    return;
  }
  free_[shift - kClassShiftMin].push_back(block);
  kept_bytes_ += capacity;
}

std::span<std::byte> BodyWriter::space(BodyHandle& body, std::size_t wanted) {
  const std::size_t used = body.start_ + body.size_;
  if (used == body.capacity_ && wanted > 0) {
    // Four times what has arrived: a large announced length alone must not cost memory, and the
    // copies of a growing body sum to a third of it.
    const std::size_t grown = std::max(body.size_ * 4, kFirstGuess);
    BodyHandle larger =
        body.pool_->take(body.size_ + std::min(wanted, grown - body.size_), body.start_);
    std::memcpy(larger.block_ + larger.start_, body.block_ + body.start_, body.size_);
    larger.size_ = body.size_;
    body = std::move(larger);
  }
  return {body.block_ + used, std::min(wanted, body.capacity_ - used)};
}

void BodyWriter::append(BodyHandle& body, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const std::span<std::byte> room = space(body, bytes.size());
    std::memcpy(room.data(), bytes.data(), room.size());
    commit(body, room.size());
    bytes = bytes.subspan(room.size());
  }
}

}  // namespace tauto::net
