#pragma once
// The waiting requests of one model: strict priority levels, first in first out inside a level, and
// behind each level those whose queue timeout passed under TimeoutAction::kDelay.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sched/events.h"
#include "sched/request_table.h"

namespace tauto::sched {

/// The links live in the RequestTable, which is therefore a parameter of everything that moves one.
class WaitingQueue {
 public:
  struct Level {
    QueuePolicy policy;
    SlotList fresh;
    SlotList delayed;
    SlotList order;  // open requests in arrival order, when answers keep it
    std::uint32_t size() const { return fresh.count + delayed.count; }
  };

  /// Requires: empty.
  void configure(const ModelSettings& settings);

  /// `priority` 0 or beyond the levels is the default level. The result counts from 0.
  std::uint32_t level_of(std::uint32_t priority) const {
    return (priority == 0 || priority > levels_.size() ? default_level_ : priority) - 1;
  }
  Level& level(std::uint32_t index) { return levels_[index]; }
  const Level& level(std::uint32_t index) const { return levels_[index]; }
  std::uint32_t level_count() const { return static_cast<std::uint32_t>(levels_.size()); }
  std::size_t size() const { return size_; }
  std::uint64_t rows() const { return rows_; }

  /// At the end of its level, among those of its state. Requires: state kFresh or kDelayed.
  void push(RequestTable& requests, Slot slot);
  void remove(RequestTable& requests, Slot slot);

  /// In dispatch order; kNoSlot at the end.
  Slot first() const { return first_from(0); }
  Slot after(const RequestTable& requests, Slot slot) const {
    const Request& r = requests[slot];
    if (r.place.next != kNoSlot) return r.place.next;
    if (r.state == RequestState::kFresh && levels_[r.level].delayed.head != kNoSlot) {
      return levels_[r.level].delayed.head;
    }
    return first_from(r.level + 1);
  }

 private:
  /// The first request of the first level >= `level` that has one.
  Slot first_from(std::uint32_t level) const;
  SlotList& list_of(const Request& r) {
    return r.state == RequestState::kFresh ? levels_[r.level].fresh : levels_[r.level].delayed;
  }

  std::vector<Level> levels_;
  std::vector<std::uint64_t> occupied_;  // one bit a level
  std::uint32_t default_level_ = 1;
  std::size_t size_ = 0;
  std::uint64_t rows_ = 0;
};

}  // namespace tauto::sched
