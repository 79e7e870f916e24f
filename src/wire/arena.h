#pragma once
// Bump memory of one request: tensors converted from JSON and the few texts that had to be
// unescaped. Blocks stay where they are until reset().

#include <cstddef>
#include <cstring>
#include <string_view>
#include <vector>

#include "core/buffer.h"

namespace tauto::wire {

/// Threads: one owner at a time. After warm-up one chunk serves every request of the usual size.
class Arena {
 public:
  static constexpr std::size_t kAlignment = AlignedBuffer::kAlignment;
  /// What reset() keeps at most: one hostile request must not hold its memory for ever.
  static constexpr std::size_t kKeepMax = std::size_t{64} << 20;

  /// At least `bytes` usable bytes, 64-byte aligned. commit() says how many of them stay; until
  /// then the next reserve() may reuse them. `chunk`: size of a new chunk, if one is needed; twice
  /// `bytes` where most of them will be given back, so that many such calls share it.
  std::byte* reserve(std::size_t bytes, std::size_t chunk = 0);
  /// Keeps the first `bytes` of the latest reserve(). Requires: not more than was reserved.
  std::byte* commit(std::size_t bytes);
  std::byte* allocate(std::size_t bytes) {
    reserve(bytes);
    return commit(bytes);
  }
  std::string_view copy(std::string_view text) {
    auto* p = reinterpret_cast<char*>(allocate(text.size()));
    if (!text.empty()) std::memcpy(p, text.data(), text.size());
    return {p, text.size()};
  }
  /// Forgets everything; several chunks become one, so that the next such request needs none.
  void reset();

 private:
  struct Chunk {
    AlignedBuffer memory;
    std::size_t used = 0;
  };
  std::vector<Chunk> chunks_;
  std::size_t current_ = 0;   // chunk that reserve() looks at first
  std::size_t reserved_ = 0;  // of the latest reserve()
};

}  // namespace tauto::wire
