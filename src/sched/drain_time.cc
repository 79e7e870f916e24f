#include <algorithm>

#include "sched/state.h"

namespace tauto::sched {
namespace {

constexpr Duration kLeast{1'000'000};
constexpr Duration kMost{std::int64_t{86'400} * 1'000'000'000};  // a day: no sum below overflows
constexpr std::uint64_t kRowsPriced = 1u << 20;

}  // namespace

// The waiting rows as full batches and a rest, each at its mean time, shared among the instances.
// What runs already is not counted: the newcomer needs room in the queue, not an answer.
std::optional<Duration> drain_time(const Model& model) {
  if (!model.service_time.known() || model.active == 0) return std::nullopt;
  const std::uint64_t waiting = model.queue.size();
  if (waiting == 0) return kLeast;

  std::uint64_t rows_each = model.settings.rows_max;
  if (model.settings.policy == PolicyKind::kFixed) rows_each = model.settings.rows_fixed;
  if (model.settings.policy == PolicyKind::kDirect) rows_each = model.queue.rows() / waiting;
  rows_each = std::clamp<std::uint64_t>(rows_each, 1, kRowsPriced);
  const auto price = [&model](std::uint64_t rows) {
    return rows == 0 ? Duration{}
                     : std::min(kMost, model.service_time.mean(static_cast<std::uint32_t>(rows)));
  };
  const std::uint64_t full = model.queue.rows() / rows_each;
  const Duration each = price(rows_each);
  const Duration rest = price(model.queue.rows() % rows_each);
  const auto fits = static_cast<std::uint64_t>(kMost / std::max(each, Duration{1}));
  const Duration total = each * static_cast<std::int64_t>(std::min(full, fits)) + rest;
  return std::clamp(total / static_cast<std::int64_t>(model.active), kLeast, kMost);
}

}  // namespace tauto::sched
