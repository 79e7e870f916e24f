#pragma once
// The open requests of one scheduler: a slab of slots, intrusive lists through it, and the map from
// ids to slots. A slot number never decides anything: order comes from `seq`.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/time.h"
#include "core/ids.h"
#include "sched/actions.h"
#include "sched/id_map.h"

namespace tauto::sched {

using Slot = std::uint32_t;
inline constexpr Slot kNoSlot = IdMap::kAbsent;

enum class RequestState : std::uint8_t {
  kFree,     // the slot is unused
  kFresh,    // waits, within its queue timeout
  kDelayed,  // waits behind its level: its queue timeout passed under TimeoutAction::kDelay
  kRunning,  // member of a running batch
  kHeld,     // its batch is done, but an earlier request must be answered first
};

struct Link {
  Slot prev = kNoSlot;
  Slot next = kNoSlot;
};

struct Request {
  RequestId id;
  std::uint64_t seq = 0;  // arrival order, unique
  CompatKey compat_key;
  std::uint64_t elements_per_row = 0;
  Instant arrival{};
  std::optional<Instant> deadline;
  std::optional<Duration> queue_timeout;  // the one in force, by Triton's rules
  Duration hold{};          // waiting: the model's hold clock on arrival; later: its hold
  Duration waited{};        // from dispatch on
  std::uint32_t model = 0;  // index into the scheduler's models
  std::uint32_t rows = 1;
  std::uint32_t priority = 0;  // as asked
  std::uint32_t level = 0;     // as filed, 0 is the highest
  std::uint32_t value = 1;
  std::uint32_t accuracy_min_ppm = 0;
  std::uint32_t instance = kNoSlot;  // kRunning: index into the scheduler's instances
  RequestState state = RequestState::kFree;
  AnswerKind outcome = AnswerKind::kServed;  // kHeld
  bool ordered = false;                      // linked into its level's answer order
  Link place;                                // in a queue, a batch or the free slots
  Link order;

  bool waiting() const { return state == RequestState::kFresh || state == RequestState::kDelayed; }
};

struct SlotList {
  Slot head = kNoSlot;
  Slot tail = kNoSlot;
  std::uint32_t count = 0;
};

/// Threads: one at a time. Allocates only when more requests are open than ever before.
class RequestTable {
 public:
  /// Requires: no open request has this id (checked).
  Slot add(RequestId id) {
    Slot slot = free_;
    if (slot == kNoSlot) {
      slot = static_cast<Slot>(slab_.size());
      slab_.emplace_back();
    } else {
      free_ = slab_[slot].place.next;
      slab_[slot] = {};
    }
    ids_.insert(id.value, slot);
    slab_[slot].id = id;
    return slot;
  }
  /// Requires: the slot is in no list.
  void remove(Slot slot) {
    ids_.erase(slab_[slot].id.value);
    slab_[slot].state = RequestState::kFree;
    slab_[slot].place.next = free_;
    free_ = slot;
  }
  /// kNoSlot when no open request has this id.
  Slot find(RequestId id) const { return ids_.find(id.value); }
  Request& operator[](Slot slot) { return slab_[slot]; }
  const Request& operator[](Slot slot) const { return slab_[slot]; }
  std::size_t size() const { return ids_.size(); }
  /// Slots are 0..slot_count()-1; some are free.
  Slot slot_count() const { return static_cast<Slot>(slab_.size()); }

  void push_back(SlotList& list, Slot slot, Link Request::*link) {
    slab_[slot].*link = {list.tail, kNoSlot};
    (list.tail == kNoSlot ? list.head : (slab_[list.tail].*link).next) = slot;
    list.tail = slot;
    ++list.count;
  }
  void unlink(SlotList& list, Slot slot, Link Request::*link) {
    const Link at = slab_[slot].*link;
    (at.prev == kNoSlot ? list.head : (slab_[at.prev].*link).next) = at.next;
    (at.next == kNoSlot ? list.tail : (slab_[at.next].*link).prev) = at.prev;
    slab_[slot].*link = {};
    --list.count;
  }

 private:
  std::vector<Request> slab_;
  IdMap ids_;
  Slot free_ = kNoSlot;
};

}  // namespace tauto::sched
