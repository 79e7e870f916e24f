#include "journey/labels.h"

#include <algorithm>

#include "base/check.h"

namespace tauto::journey {

LabelTable::LabelTable(Options options) : options_(std::move(options)) {
  TAUTO_CHECK(options_.shards > 0);
  slots_.resize(options_.names.size() * (options_.values_max + 1));
}

std::optional<LabelIndex> LabelTable::find(std::string_view name, std::string_view value) {
  const auto found = std::find(options_.names.begin(), options_.names.end(), name);
  if (found == options_.names.end()) return std::nullopt;
  MutexLock lock(mutex_);
  const auto index = find_slot(static_cast<std::size_t>(found - options_.names.begin()), value);
  return LabelIndex{static_cast<std::uint32_t>(index)};
}

std::size_t LabelTable::find_slot(std::size_t name, std::string_view value) {
  const std::size_t first = name * (options_.values_max + 1);
  const std::size_t other = first + options_.values_max;
  std::size_t index = first;
  if (value.size() > options_.value_length_max || value == kOther) index = other;
  while (index < other && slots_[index] != nullptr) {
    if (slots_[index]->value == value) return index;
    ++index;
  }
  if (slots_[index] == nullptr) {
    auto slot = std::make_unique<Slot>();
    slot->value = index == other ? kOther : value;
    for (std::size_t i = 0; i < options_.shards; ++i) {
      slot->shards.push_back(std::make_unique<Shard>());
    }
    slots_[index] = std::move(slot);
  }
  return index;
}

void LabelTable::record(std::size_t shard, LabelIndex index, Outcome outcome, Duration total) {
  Shard& s = *slots_[index.value]->shards[shard];
  AtomicHistogram::bump(s.outcomes[static_cast<std::size_t>(outcome)], 1);
  if (outcome == Outcome::kServed) s.total.add(static_cast<std::uint64_t>(to_ns(total)));
}

std::vector<LabelSnapshot> LabelTable::snapshot() const {
  std::vector<LabelSnapshot> result;
  MutexLock lock(mutex_);
  for (std::size_t index = 0; index < slots_.size(); ++index) {
    const Slot* slot = slots_[index].get();
    if (slot == nullptr) continue;
    LabelSnapshot& label = result.emplace_back();
    label.name = options_.names[index / (options_.values_max + 1)];
    label.value = slot->value;
    for (const auto& shard : slot->shards) {
      shard->total.read_into(label.total);
      for (std::size_t i = 0; i < kOutcomeCount; ++i) {
        label.outcomes[i] += shard->outcomes[i].load(std::memory_order_relaxed);
      }
    }
  }
  return result;
}

}  // namespace tauto::journey
