#pragma once
// One loaded model version while it serves: what was loaded, what its requests took, how they
// ended.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/time.h"
#include "journey/histograms.h"
#include "journey/labels.h"
#include "journey/slowest.h"
#include "model/loader.h"
#include "serve/statistics.h"

namespace tauto::serve {

class DeviceGroup;

/// Threads: as each member says; what was loaded never changes.
class ModelHost {
 public:
  ModelHost(std::unique_ptr<model::LoadedModel> loaded, std::size_t shards,
            const TimeSource& clock);

  const std::string& name() const { return loaded_->name; }
  std::int64_t version() const { return loaded_->version; }
  const std::string& version_text() const { return version_text_; }
  const model::LoadedModel& loaded() const { return *loaded_; }
  const sched::ModelSettings& settings() const { return settings_; }
  const ServiceTime& service_time() const { return loaded_->service_time; }
  std::size_t instance_count() const { return loaded_->instances.size(); }
  engine::Instance& instance(std::size_t i) { return *loaded_->instances[i]; }

  /// Set once, by DeviceGroup::add_model.
  void join(DeviceGroup& group, ModelId id) {
    group_ = &group;
    id_ = id;
  }
  DeviceGroup& group() const { return *group_; }
  ModelId id() const { return id_; }

  /// Whether a loop thread may run a batch of `rows` itself: such batches take less than
  /// kInlineMax, by measurement. Any thread.
  bool runs_inline(std::uint32_t rows) const;
  static constexpr Duration kInlineMax{200'000};
  /// A batch came back from the engine. Any thread.
  void batch_ended(std::uint32_t rows, const engine::BatchTimes& times, Instant picked_up, bool ok);

  Statistics& statistics() { return statistics_; }
  const Statistics& statistics() const { return statistics_; }
  journey::StageRecorder& stages() { return stages_; }
  const journey::StageRecorder& stages() const { return stages_; }
  journey::Slowest& slowest() { return slowest_; }
  const journey::Slowest& slowest() const { return slowest_; }
  journey::LabelTable& labels() { return labels_; }
  const journey::LabelTable& labels() const { return labels_; }
  const TimeSource& clock() const { return clock_; }

 private:
  std::unique_ptr<model::LoadedModel> loaded_;
  sched::ModelSettings settings_;
  std::string version_text_;
  const TimeSource& clock_;
  DeviceGroup* group_ = nullptr;
  ModelId id_{};
  Statistics statistics_;
  journey::StageRecorder stages_;
  journey::Slowest slowest_;
  journey::LabelTable labels_;
  std::atomic<std::int64_t> recent_ns_{0};  // moving average of batch times, for runs_inline
};

}  // namespace tauto::serve
