#include "wire/arena.h"

#include <algorithm>

#include "base/check.h"

namespace tauto::wire {
namespace {

constexpr std::size_t kChunkMin = 16 * 1024;

std::size_t round_up(std::size_t bytes) {
  return (bytes + Arena::kAlignment - 1) / Arena::kAlignment * Arena::kAlignment;
}

}  // namespace

std::byte* Arena::reserve(std::size_t bytes, std::size_t chunk_size) {
  reserved_ = round_up(bytes);
  for (; current_ < chunks_.size(); ++current_) {
    Chunk& chunk = chunks_[current_];
    if (chunk.memory.capacity() - chunk.used >= reserved_) return chunk.memory.data() + chunk.used;
  }
  chunks_.emplace_back();
  current_ = chunks_.size() - 1;
  return chunks_.back().memory.reserve(std::max({reserved_, chunk_size, kChunkMin}));
}

std::byte* Arena::commit(std::size_t bytes) {
  const std::size_t kept = round_up(bytes);
  TAUTO_CHECK(kept <= reserved_);
  Chunk& chunk = chunks_[current_];
  std::byte* p = chunk.memory.data() + chunk.used;
  chunk.used += kept;
  reserved_ = 0;
  return p;
}

void Arena::reset() {
  std::size_t capacity = 0;
  for (Chunk& chunk : chunks_) {
    capacity += chunk.memory.capacity();
    chunk.used = 0;
  }
  current_ = 0;
  reserved_ = 0;
  if (capacity > kKeepMax) {
    chunks_.clear();
  } else if (chunks_.size() > 1) {
    chunks_.resize(1);
    chunks_.front().memory.reserve(capacity);
  }
}

}  // namespace tauto::wire
