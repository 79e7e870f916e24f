#include "sched/waiting_queue.h"

#include <algorithm>

#include "base/check.h"

namespace tauto::sched {

void WaitingQueue::configure(const ModelSettings& settings) {
  TAUTO_CHECK(size_ == 0);
  const std::uint32_t count = std::max(1u, settings.priority_levels);
  levels_.assign(count, Level{settings.queue_default, {}, {}, {}});
  for (const auto& [priority, policy] : settings.queue_by_priority) {
    levels_[priority - 1].policy = policy;
  }
  occupied_.assign((count + 63) / 64, 0);
  default_level_ = settings.priority_levels == 0 ? 1 : settings.priority_default;
}

void WaitingQueue::push(RequestTable& requests, Slot slot) {
  const Request& r = requests[slot];
  requests.push_back(list_of(r), slot, &Request::place);
  occupied_[r.level / 64] |= std::uint64_t{1} << (r.level % 64);
  ++size_;
  rows_ += r.rows;
}

void WaitingQueue::remove(RequestTable& requests, Slot slot) {
  const Request& r = requests[slot];
  requests.unlink(list_of(r), slot, &Request::place);
  if (levels_[r.level].size() == 0) {
    occupied_[r.level / 64] &= ~(std::uint64_t{1} << (r.level % 64));
  }
  --size_;
  rows_ -= r.rows;
}

Slot WaitingQueue::first_from(std::uint32_t level) const {
  if (size_ == 0) return kNoSlot;
  std::uint64_t mask = ~std::uint64_t{0} << (level % 64);
  for (std::size_t word = level / 64; word < occupied_.size(); ++word) {
    const std::uint64_t bits = occupied_[word] & mask;
    mask = ~std::uint64_t{0};
    if (bits == 0) continue;
    const Level& found = levels_[word * 64 + static_cast<std::size_t>(std::countr_zero(bits))];
    return found.fresh.head != kNoSlot ? found.fresh.head : found.delayed.head;
  }
  return kNoSlot;
}

}  // namespace tauto::sched
