#pragma once
// What is due next: a binary heap of (time, tie) that knows where each slot stands, so that a time
// can be moved or withdrawn in O(log n).

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/time.h"

namespace tauto::sched {

/// At most one time per slot. Equal times leave in the order of `tie`, which is unique: the order
/// never depends on how the heap came about.
class TimeHeap {
 public:
  struct Entry {
    Instant at;
    std::uint64_t tie;
    std::uint32_t slot;
  };

  bool empty() const { return heap_.empty(); }
  /// Requires: not empty.
  const Entry& top() const { return heap_.front(); }

  /// The slot's time, if it has one.
  std::optional<Instant> at(std::uint32_t slot) const {
    if (slot >= where_.size() || where_[slot] == kAbsent) return std::nullopt;
    return heap_[where_[slot]].at;
  }

  /// Adds the slot or moves it to another time.
  void set(std::uint32_t slot, Instant at, std::uint64_t tie) {
    if (slot >= where_.size()) where_.resize(slot + 1, kAbsent);
    std::size_t i = where_[slot];
    if (i == kAbsent) {
      i = heap_.size();
      heap_.push_back({at, tie, slot});
    } else {
      heap_[i] = {at, tie, slot};
    }
    settle(i);
  }
  /// Does nothing when the slot has no time.
  void erase(std::uint32_t slot) {
    if (slot >= where_.size() || where_[slot] == kAbsent) return;
    const std::size_t i = where_[slot];
    where_[slot] = kAbsent;
    const Entry last = heap_.back();
    heap_.pop_back();
    if (i == heap_.size()) return;
    heap_[i] = last;
    settle(i);
  }

 private:
  static constexpr std::uint32_t kAbsent = 0xffff'ffff;

  static bool before(const Entry& a, const Entry& b) {
    return a.at != b.at ? a.at < b.at : a.tie < b.tie;
  }
  /// Moves the entry at `i` up or down to where it belongs.
  void settle(std::size_t i) {
    while (i > 0 && before(heap_[i], heap_[(i - 1) / 2])) {
      std::swap(heap_[i], heap_[(i - 1) / 2]);
      note(i);
      i = (i - 1) / 2;
    }
    while (true) {
      std::size_t least = i;
      for (const std::size_t child : {2 * i + 1, 2 * i + 2}) {
        if (child < heap_.size() && before(heap_[child], heap_[least])) least = child;
      }
      if (least == i) break;
      std::swap(heap_[i], heap_[least]);
      note(i);
      i = least;
    }
    note(i);
  }
  void note(std::size_t i) { where_[heap_[i].slot] = static_cast<std::uint32_t>(i); }

  std::vector<Entry> heap_;
  std::vector<std::uint32_t> where_;  // by slot
};

}  // namespace tauto::sched
