#include "serve/model_host.h"

#include <algorithm>
#include <utility>

namespace tauto::serve {
namespace {

/// Weight of one batch in the moving average is 1/8: one stall does not end inline running, a few
/// do.
constexpr int kAverageShift = 3;

sched::ModelSettings settings_of(const model::LoadedModel& loaded) {
  auto settings = loaded.config.scheduling;
  settings.rows_max = std::max<std::uint32_t>(1, loaded.config.rows_max);
  return settings;
}

}  // namespace

ModelHost::ModelHost(std::unique_ptr<model::LoadedModel> loaded, std::size_t shards,
                     const TimeSource& clock)
    : loaded_(std::move(loaded)),
      settings_(settings_of(*loaded_)),
      version_text_(std::to_string(loaded_->version)),
      clock_(clock),
      statistics_(shards),
      stages_(shards),
      labels_({loaded_->config.labels.names, loaded_->config.labels.values_max, 64, shards}) {
  const auto& l = loaded_->service_time;
  recent_ns_ = to_ns(l.known() ? l.mean(1) : kInlineMax);
}

bool ModelHost::runs_inline(std::uint32_t rows) const {
  return recent_ns_.load(std::memory_order_relaxed) < to_ns(kInlineMax) &&
         loaded_->service_time.mean(rows) < kInlineMax;
}

void ModelHost::batch_ended(std::uint32_t rows, const engine::BatchTimes& times, Instant picked_up,
                            bool ok) {
  const std::int64_t took = to_ns(times.unbind_end - picked_up);
  const std::int64_t recent = recent_ns_.load(std::memory_order_relaxed);
  recent_ns_.store(recent + ((took - recent) >> kAverageShift), std::memory_order_relaxed);
  if (!ok) return;
  const auto ns = [](Duration d) { return static_cast<std::uint64_t>(d.count()); };
  statistics_.add_batch(
      {rows, 1, ns(times.bind_end - picked_up), ns(times.compute_end - times.bind_end),
       ns(times.unbind_end - times.compute_end)},
      times.unbind_end);
}

}  // namespace tauto::serve
