#include "engine/profile.h"

#include <algorithm>
#include <vector>

#include "base/text.h"

namespace tauto::engine {
namespace {

/// Per-row time counts as still falling when it is this many thousandths below the best so far.
constexpr std::int64_t kFallingPerMille = 30;
constexpr std::int64_t kPaysPerMille = 100;

/// True when `time` for `rows` is, per row, at least `per_mille` below `best_time` for `best_rows`.
bool cheaper_per_row(ServicePoint point, ServicePoint best, std::int64_t per_mille) {
  const auto each = [](ServicePoint p) { return p.mean.count() / p.rows; };
  return each(point) < each(best) - each(best) / 1000 * per_mille;
}

class Measurement {
 public:
  Measurement(Instance& instance, const BatchMaker& make, const ProfilePlan& plan,
              const TimeSource& time)
      : instance_(instance), make_(make), plan_(plan), time_(time), begin_(time.now()) {}

  Duration left() const { return plan_.budget - (time_.now() - begin_); }

  Result<Duration> run_once(std::uint32_t rows) {
    TAUTO_ASSIGN_OR_RETURN(const Batch batch, make_(rows));
    TAUTO_CHECK(batch.rows == rows);
    BatchTimes times{};
    const Instant start = time_.now();
    TAUTO_RETURN_IF_ERROR(instance_.run(batch, output_, times));
    return time_.now() - start;
  }

  /// Runs of one size for about `share` of the budget.
  Result<ServicePoint> measure(std::uint32_t rows, Duration share) {
    runs_.clear();
    const Instant until = time_.now() + share;
    while (runs_.size() < plan_.runs_min ||
           (runs_.size() < plan_.runs_max && time_.now() < until)) {
      TAUTO_ASSIGN_OR_RETURN(const Duration run, run_once(rows));
      runs_.push_back(run);
    }
    std::sort(runs_.begin(), runs_.end());
    const std::size_t n = runs_.size();
    return ServicePoint{rows, runs_[(n - 1) / 2], runs_[(n * 95 + 99) / 100 - 1]};
  }

 private:
  Instance& instance_;
  const BatchMaker& make_;
  const ProfilePlan& plan_;
  const TimeSource& time_;
  const Instant begin_;
  BatchOutput output_;
  std::vector<Duration> runs_;
};

/// 1, 2, 4, ... and rows_max itself.
std::vector<std::uint32_t> sizes_up_to(std::uint32_t rows_max) {
  std::vector<std::uint32_t> sizes;
  for (std::uint64_t rows = 1; rows < rows_max; rows *= 2) {
    sizes.push_back(static_cast<std::uint32_t>(rows));
  }
  sizes.push_back(std::max(rows_max, 1u));
  return sizes;
}

/// Why `rows` should not be begun after `last`, the size before it; "" to go on.
std::string reason_to_stop(const ServicePoint& last, std::uint32_t rows, const ProfilePlan& plan,
                           Duration left) {
  const std::int64_t runs = std::int64_t{plan.runs_min} + 1;
  const Duration likely = last.mean * static_cast<std::int64_t>(rows) / last.rows * runs;
  if (likely <= left) return "";
  return std::to_string(rows) + " rows would take about " + format_duration(likely) +
         ", more than the warm-up budget has left";
}

}  // namespace

Result<ServiceProfile> measure_service_time(Instance& instance, const BatchMaker& make,
                                            const ProfilePlan& plan, const TimeSource& time) {
  TAUTO_CHECK(plan.runs_min >= 1 && plan.runs_max >= plan.runs_min);
  Measurement measurement(instance, make, plan, time);
  ServiceProfile profile;
  const auto sizes = sizes_up_to(plan.rows_max);
  ServicePoint first{}, best{}, last{};
  for (std::size_t i = 0; i < sizes.size() && profile.stopped.empty(); ++i) {
    const std::uint32_t rows = sizes[i];
    if (i > 0) profile.stopped = reason_to_stop(last, rows, plan, measurement.left());
    if (!profile.stopped.empty()) break;
    const auto warming = measurement.run_once(rows);
    if (i == 0 && warming.ok()) profile.first_run = warming.value();
    const Duration share = measurement.left() / static_cast<std::int64_t>(sizes.size() - i);
    const auto point =
        warming.ok() ? measurement.measure(rows, share) : Result<ServicePoint>(warming.error());
    if (!point.ok()) {
      if (i == 0) return point.error();
      profile.stopped = std::to_string(rows) + " rows: " + point.error().message;
      break;
    }
    last = point.value();
    profile.service_time.set(last);
    profile.rows_warmed = rows;
    if (i == 0) first = best = last;
    const bool falling = i == 0 || cheaper_per_row(last, best, kFallingPerMille);
    if (i > 0 && cheaper_per_row(last, best, 0)) best = last;
    if (!falling && plan.stop_when_flat && i + 1 < sizes.size()) {
      profile.stopped = "time per row stopped falling at " + std::to_string(rows) + " rows";
    }
  }
  profile.rows_best = best.rows;
  profile.batching_pays = best.rows > 1 && cheaper_per_row(best, first, kPaysPerMille);
  return profile;
}

}  // namespace tauto::engine
