#pragma once
// From ids to slots: open addressing, linear probing, no tombstones. Never iterated, so that no
// decision can depend on hash order.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/check.h"

namespace tauto::sched {

/// Threads: one at a time. Allocates only when it grows (load above one half).
class IdMap {
 public:
  static constexpr std::uint32_t kAbsent = 0xffff'ffff;

  IdMap() : cells_(16) {}

  std::uint32_t find(std::uint64_t id) const {
    for (std::size_t i = home(id);; i = next(i)) {
      if (cells_[i].slot == kAbsent) return kAbsent;
      if (cells_[i].id == id) return cells_[i].slot;
    }
  }
  /// Requires: `id` is absent (checked), slot != kAbsent.
  void insert(std::uint64_t id, std::uint32_t slot) {
    if (2 * (size_ + 1) > cells_.size()) grow();
    TAUTO_CHECK(slot != kAbsent && place(id, slot));
    ++size_;
  }
  /// Requires: `id` is present (checked).
  void erase(std::uint64_t id) {
    std::size_t hole = home(id);
    while (cells_[hole].id != id || cells_[hole].slot == kAbsent) {
      TAUTO_CHECK(cells_[hole].slot != kAbsent);
      hole = next(hole);
    }
    // Close the gap: whoever was pushed past the hole by a collision moves back into it.
    for (std::size_t i = next(hole); cells_[i].slot != kAbsent; i = next(i)) {
      const std::size_t mask = cells_.size() - 1;
      const std::size_t wanted = home(cells_[i].id);
      if (((i - wanted) & mask) < ((i - hole) & mask)) continue;
      cells_[hole] = cells_[i];
      hole = i;
    }
    cells_[hole] = {};
    --size_;
  }
  std::size_t size() const { return size_; }

 private:
  struct Cell {
    std::uint64_t id = 0;
    std::uint32_t slot = kAbsent;
  };

  std::size_t next(std::size_t i) const { return (i + 1) & (cells_.size() - 1); }
  /// Ids come in runs and in high halves: mix all bits (the finaliser of SplitMix64).
  std::size_t home(std::uint64_t id) const {
    id = (id ^ (id >> 30)) * 0xbf58476d1ce4e5b9u;
    id = (id ^ (id >> 27)) * 0x94d049bb133111ebu;
    return static_cast<std::size_t>(id ^ (id >> 31)) & (cells_.size() - 1);
  }
  bool place(std::uint64_t id, std::uint32_t slot) {
    std::size_t i = home(id);
    while (cells_[i].slot != kAbsent) {
      if (cells_[i].id == id) return false;
      i = next(i);
    }
    cells_[i] = {id, slot};
    return true;
  }
  void grow() {
    std::vector<Cell> old(cells_.size() * 2);
    old.swap(cells_);
    for (const auto& cell : old) {
      if (cell.slot != kAbsent) place(cell.id, cell.slot);
    }
  }

  std::vector<Cell> cells_;
  std::size_t size_ = 0;
};

}  // namespace tauto::sched
