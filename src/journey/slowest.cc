#include "journey/slowest.h"

#include <algorithm>

#include "base/check.h"

namespace tauto::journey {
namespace {

/// Cut before a UTF-8 sequence that would not fit whole.
void cut(std::string& text, std::size_t length_max) {
  if (text.size() <= length_max) return;
  std::size_t length = length_max;
  while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xc0) == 0x80) --length;
  text.resize(length);
}

}  // namespace

Slowest::Slowest(Options options) : options_(options) {
  TAUTO_CHECK(options_.per_minute > 0 && options_.minutes > 0);
  ring_.resize(options_.minutes);
}

void Slowest::offer(Exemplar exemplar) {
  cut(exemplar.client_id, Exemplar::kClientIdMax);
  const std::int64_t minute = to_ns(exemplar.started + exemplar.total) / kMinuteNs;
  const auto window = static_cast<std::int64_t>(options_.minutes);
  TAUTO_CHECK(minute >= 0);  // the tag clock starts at zero
  MutexLock lock(mutex_);
  if (minute <= newest_ - window) return;  // its slot has gone to a later minute
  Slot& slot = ring_[static_cast<std::size_t>(minute % window)];
  if (slot.minute != minute) {
    slot.minute = minute;
    slot.requests.clear();
  }
  if (minute > newest_) {
    newest_ = minute;
    // The threshold first: whoever sees the new minute must not meet the old minute's bar.
    threshold_.store(-1, std::memory_order_relaxed);
    minute_start_.store(minute * kMinuteNs, std::memory_order_release);
  }
  const auto slower = [](const Exemplar& a, const Exemplar& b) { return a.total > b.total; };
  auto& kept = slot.requests;
  kept.insert(std::upper_bound(kept.begin(), kept.end(), exemplar, slower), std::move(exemplar));
  if (kept.size() > options_.per_minute) kept.pop_back();
  if (minute == newest_ && kept.size() == options_.per_minute) {
    threshold_.store(to_ns(kept.back().total), std::memory_order_relaxed);
  }
}

std::vector<Slowest::Minute> Slowest::snapshot(Instant now) const {
  const std::int64_t oldest =
      to_ns(now) / kMinuteNs - static_cast<std::int64_t>(options_.minutes) + 1;
  std::vector<Minute> result;
  {
    MutexLock lock(mutex_);
    for (const Slot& slot : ring_) {
      if (slot.minute < oldest || slot.requests.empty()) continue;
      result.push_back({instant_at_ns(slot.minute * kMinuteNs), slot.requests});
    }
  }
  std::sort(result.begin(), result.end(),
            [](const Minute& a, const Minute& b) { return a.start > b.start; });
  return result;
}

}  // namespace tauto::journey
