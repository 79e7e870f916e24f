// Triton's dynamic batcher, as one call per event instead of a thread that sleeps and is woken.
//
// Requests are moved from the queue into a *payload* by walking the queue from its head (walk()
// below has the rules). Where the model has no priority levels and no queue policy, a payload may
// be formed while every instance is busy; it then waits for one and keeps growing until it is
// saturated. Otherwise it is formed only when an instance is idle, and leaves at once. The payload
// is the first `count` requests of the queue: they stay there, so that they still expire, are
// cancelled and are counted like all that wait.
//
// Left out, for the next issue: Triton may form up to two payloads an instance ahead (here one),
// and an instance that takes a payload may merge others whose oldest request waited longer than the
// delay. Different by being a state machine: the queue is looked at on every event, where Triton's
// thread is sometimes left asleep until a preferred size is queued; a queue timeout acts when it is
// due, not when the walk meets it; waits are exact, not whole microseconds; a member that leaves a
// waiting payload makes room in it.

#include <algorithm>

#include "base/check.h"
#include "sched/policy.h"

namespace tauto::sched {
namespace {

/// Some requests at the head of the queue.
struct Stretch {
  std::uint32_t count = 0;
  std::uint64_t rows = 0;
  Slot last = kNoSlot;

  void add(Slot slot, std::uint32_t rows_more) {
    ++count;
    rows += rows_more;
    last = slot;
  }
};

/// What the walk over the queue saw.
struct Walk {
  Stretch pending;  // the requests that could join the payload now
  Instant oldest = Instant::max();
  Stretch mark;  // the part of them to cut back to: the last preferred size, or what fits
  DispatchReason mark_reason = DispatchReason::kPreferred;
  bool saturate = false;              // the payload takes no more after this
  std::optional<DispatchReason> cut;  // the next request cannot join at all
};

/// What to do about it.
struct Move {
  Stretch send;  // into the payload; may be nothing
  DispatchReason reason = DispatchReason::kIdle;
  bool saturate = false;
  std::optional<Instant> wake;
};

class TritonPolicy final : public Policy {
 public:
  Choice choose(const PolicyView& view, std::vector<Slot>& batch) override {
    while (true) {
      if (payload_.count > 0 && view.instance_idle) return take_payload(view, batch);
      const bool slot_free =
          payload_.count > 0 ? !saturated_ : view.instance_idle || forms_ahead(view.settings);
      if (!slot_free || view.queue.size() == payload_.count) return {};
      const Move move = decide(view, walk(view));
      saturated_ = saturated_ || move.saturate;
      if (move.send.count == 0) return {DispatchReason::kIdle, move.wake};
      payload_ = {payload_.count + move.send.count, payload_.rows + move.send.rows, move.send.last};
      reason_ = move.reason;
    }
  }

  void on_leave(const RequestTable& requests, Slot slot) override {
    if (payload_.count == 0 || requests[slot].seq > requests[payload_.last].seq) return;
    --payload_.count;
    payload_.rows -= requests[slot].rows;
    if (slot == payload_.last) payload_.last = requests[slot].place.prev;
    saturated_ = false;
  }

  void save(ByteWriter& out) const override {
    out.u32(payload_.count);
    out.flag(saturated_);
    out.u8(static_cast<std::uint8_t>(reason_));
  }

  void restore(ByteReader& in, const PolicyView& view) override {
    const std::uint32_t count = in.u32();
    saturated_ = in.flag();
    reason_ = in.enumerator(DispatchReason::kIncompatible);
    in.require(count <= view.queue.size() && (count == 0 || forms_ahead(view.settings)));
    in.require(count > 0 || !saturated_);
    if (!in.ok()) return;
    for (Slot slot = view.queue.first(); payload_.count < count;
         slot = view.queue.after(view.requests, slot)) {
      const Request& r = view.requests[slot];
      payload_.add(slot, r.rows);
      in.require(r.compat_key == view.requests[view.queue.first()].compat_key);
      in.require(payload_.rows <= view.settings.rows_max);
    }
  }

 private:
  /// Triton's condition for handing payloads to instances that are still busy.
  static bool forms_ahead(const ModelSettings& s) {
    const QueuePolicy& q = s.queue_default;
    return s.priority_levels == 0 && q.timeout_default.value_or(Duration{}) == Duration{} &&
           !q.timeout_override && q.queue_depth_max.value_or(0) == 0;
  }
  static std::uint64_t largest_preferred(const ModelSettings& s) {
    return s.rows_preferred.empty() ? s.rows_max : s.rows_preferred.back();
  }
  static bool is_preferred(const ModelSettings& s, std::uint64_t rows) {
    if (s.rows_preferred.empty()) return rows == s.rows_max;
    return std::find(s.rows_preferred.begin(), s.rows_preferred.end(), rows) !=
           s.rows_preferred.end();
  }

  Choice take_payload(const PolicyView& view, std::vector<Slot>& batch) {
    Slot slot = view.queue.first();
    for (std::uint32_t i = 0; i < payload_.count; ++i) {
      batch.push_back(slot);
      slot = view.queue.after(view.requests, slot);
    }
    payload_ = {};
    saturated_ = false;
    return {reason_, std::nullopt};
  }

  Walk walk(const PolicyView& view) const;
  Move decide(const PolicyView& view, const Walk& walk) const;

  Stretch payload_;
  bool saturated_ = false;
  DispatchReason reason_ = DispatchReason::kIdle;
};

Walk TritonPolicy::walk(const PolicyView& view) const {
  const ModelSettings& s = view.settings;
  Walk out;
  const CompatKey key = view.requests[view.queue.first()].compat_key;
  Slot slot =
      payload_.count == 0 ? view.queue.first() : view.queue.after(view.requests, payload_.last);
  for (; slot != kNoSlot; slot = view.queue.after(view.requests, slot)) {
    const Request& r = view.requests[slot];
    const std::uint64_t rows_before = payload_.rows + out.pending.rows;
    if (rows_before > 0) {
      const std::uint64_t rows_with = rows_before + r.rows;
      if (rows_with > largest_preferred(s) && out.mark.count == 0) {
        // With nothing pending this marks nothing: the walk goes on past the preferred sizes.
        out.mark = out.pending;
        out.mark_reason = DispatchReason::kFull;
        out.saturate = true;
      }
      if (rows_with > s.rows_max) {
        out.cut = DispatchReason::kFull;
      } else if (r.compat_key != key) {
        out.cut = DispatchReason::kIncompatible;
      }
      if (out.cut) break;
    }
    out.pending.add(slot, r.rows);
    out.oldest = std::min(out.oldest, r.arrival);
    if (is_preferred(s, payload_.rows + out.pending.rows)) {
      out.mark = out.pending;
      out.mark_reason = DispatchReason::kPreferred;
    }
  }
  return out;
}

Move TritonPolicy::decide(const PolicyView& view, const Walk& walk) const {
  const Duration delay = view.settings.hold_max;
  const bool no_delay = delay == Duration{};
  const std::uint64_t rows = payload_.rows + walk.pending.rows;
  const bool late = !no_delay && walk.pending.count > 0 && view.now - walk.oldest >= delay;
  if (walk.mark.count > 0 && !late) {
    return {walk.mark, walk.mark_reason, walk.saturate || no_delay, std::nullopt};
  }
  if (walk.cut || rows >= largest_preferred(view.settings)) {
    return {walk.pending, walk.cut.value_or(DispatchReason::kFull), true, std::nullopt};
  }
  if (late) return {walk.pending, DispatchReason::kHoldElapsed, walk.saturate, std::nullopt};
  // A payload that waits at no preferred size is topped up with whatever there is.
  const bool top_up = payload_.count > 0 && !is_preferred(view.settings, payload_.rows);
  if (no_delay || top_up) {
    return {walk.pending, DispatchReason::kIdle, walk.saturate, std::nullopt};
  }
  return {{}, DispatchReason::kIdle, walk.saturate, walk.oldest + delay};
}

}  // namespace

std::unique_ptr<Policy> make_triton_policy() { return std::make_unique<TritonPolicy>(); }

}  // namespace tauto::sched
