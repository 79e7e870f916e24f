#include "lab/series.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "base/percentile.h"
#include "core/arrivals.h"

namespace tauto::lab {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

std::optional<Duration> percentile(const std::vector<std::int64_t>& sorted, double q) {
  if (sorted.size() < samples_needed(q)) return std::nullopt;
  return Duration{nearest_rank(std::span<const std::int64_t>(sorted), q)};
}

std::size_t second_of(std::int64_t at_ns) {
  return static_cast<std::size_t>(std::max<std::int64_t>(at_ns, 0) / kSecondNs);
}

}  // namespace

Breakdown::Breakdown(const LoadLog& log) : log_(log) {
  const auto& rows = log.stages.rows();
  std::array<bool, kStageColumnCount> seen{};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t c = 0; c < kStageColumnCount; ++c)
      seen[c] = seen[c] || !std::isnan(rows[i][c]);
  }
  has_total_ = seen[StageLog::kTotalColumn];
  parts_.push_back({"lag", false});
  parts_.push_back({has_total_ ? "network" : "service", false});
  for (std::size_t c = 0; c < log.stages.names().size(); ++c) {
    if (c == StageLog::kTotalColumn || !seen[c]) continue;
    parts_.push_back({log.stages.names()[c], true});
    columns_.push_back(c);
  }
}

Breakdown::Split Breakdown::split(const Sample& sample) const {
  Split split;
  split.fill(kUnknown);
  split[0] = static_cast<double>(sample.lag_ns()) / 1e6;
  const double service_ms = static_cast<double>(sample.service_ns()) / 1e6;
  if (sample.stages == Sample::kNoStages) {
    if (!has_total_) split[1] = service_ms;
    return split;
  }
  const auto& row = log_.stages.rows()[sample.stages];
  const double total_ms = static_cast<double>(row[StageLog::kTotalColumn]);
  split[1] = has_total_ ? std::max(service_ms - total_ms, 0.0) : service_ms;
  for (std::size_t p = 0; p < columns_.size(); ++p) {
    split[p + 2] = static_cast<double>(row[columns_[p]]);
  }
  return split;
}

std::vector<report::Second> seconds_of(const LoadLog& log) {
  const Breakdown breakdown(log);
  const std::size_t parts = breakdown.parts().size();
  const std::size_t count = second_of(std::max<std::int64_t>(to_ns(log.whole) - 1, 0)) + 1;
  std::vector<report::Second> seconds(count);
  std::vector<std::vector<std::int64_t>> latencies(count);
  std::vector<std::vector<std::uint64_t>> known(count, std::vector<std::uint64_t>(parts, 0));
  for (std::size_t i = 0; i < count; ++i) {
    seconds[i].second = static_cast<std::uint32_t>(i);
    seconds[i].stage_ms.assign(parts, 0);
  }
  for (std::size_t i = 0; i < log.samples.size(); ++i) {
    const auto& sample = log.samples[i];
    if (sample.outcome == Outcome::kAborted) continue;
    const auto at = std::min(second_of(sample.intended_ns), count - 1);
    auto& second = seconds[at];
    ++second.asked;
    if (!sample.has(Sample::kUnsent))
      ++seconds[std::min(second_of(sample.sent_ns), count - 1)].sent;
    if (sample.outcome != Outcome::kOk) {
      ++second.failed;
      continue;
    }
    ++second.ok;
    ++seconds[std::min(second_of(sample.done_ns), count - 1)].ended;
    latencies[at].push_back(sample.latency_ns());
    const auto split = breakdown.split(sample);
    for (std::size_t p = 0; p < parts; ++p) {
      if (std::isnan(split[p])) continue;
      second.stage_ms[p] += split[p];
      ++known[at][p];
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    auto& sorted = latencies[i];
    for (std::size_t p = 0; p < parts; ++p) {
      if (known[i][p] > 0) seconds[i].stage_ms[p] /= static_cast<double>(known[i][p]);
    }
    if (sorted.empty()) continue;
    std::sort(sorted.begin(), sorted.end());
    seconds[i].max = Duration{sorted.back()};
    seconds[i].p50 = percentile(sorted, 0.5);
    seconds[i].p90 = percentile(sorted, 0.9);
    seconds[i].p99 = percentile(sorted, 0.99);
  }
  return seconds;
}

std::vector<report::Dot> dots_of(const LoadLog& log, const Window& window) {
  constexpr std::size_t kBins = 500;
  constexpr std::size_t kPerBin = 6;  // place 0: the slowest; 1: a failed one; the rest: a sample
  struct Bin {
    std::array<const Sample*, kPerBin> kept{};
    std::uint64_t seen = 0;
  };
  std::vector<Bin> bins(kBins);
  const auto width = std::max<std::int64_t>(window.end_ns - window.begin_ns, 1);
  SplitMix64 random(1);  // the same samples give the same picture
  const auto slower = [](const Sample* a, const Sample& b) {
    return a == nullptr || b.latency_ns() > a->latency_ns();
  };
  for (std::size_t i = 0; i < log.samples.size(); ++i) {
    const auto& sample = log.samples[i];
    if (!window.counts(sample)) continue;
    const auto share =
        static_cast<double>(sample.intended_ns - window.begin_ns) / static_cast<double>(width);
    auto& bin = bins[std::min(static_cast<std::size_t>(share * kBins), kBins - 1)];
    if (sample.outcome != Outcome::kOk) {
      if (slower(bin.kept[1], sample)) bin.kept[1] = &sample;
      continue;
    }
    if (slower(bin.kept[0], sample)) bin.kept[0] = &sample;
    // Reservoir sampling (Vitter's algorithm R).
    constexpr std::size_t kRoom = kPerBin - 2;
    const auto place = bin.seen < kRoom ? bin.seen : random.next() % (bin.seen + 1);
    if (place < kRoom) bin.kept[2 + place] = &sample;
    ++bin.seen;
  }
  std::vector<report::Dot> dots;
  for (const auto& bin : bins) {
    for (std::size_t k = 0; k < kPerBin; ++k) {
      const auto* sample = bin.kept[k];
      if (sample == nullptr || (k > 1 && sample == bin.kept[0])) continue;
      dots.push_back({static_cast<double>(sample->intended_ns) / 1e9,
                      static_cast<double>(sample->latency_ns()) / 1e6,
                      sample->outcome == Outcome::kOk});
    }
  }
  return dots;
}

std::vector<report::CurvePoint> curve_of(const std::vector<std::int64_t>& sorted_ns) {
  std::vector<report::CurvePoint> curve;
  if (sorted_ns.empty()) return curve;
  const std::span<const std::int64_t> sorted(sorted_ns);
  const auto n = static_cast<double>(sorted.size());
  const auto ms = [](std::int64_t ns) { return static_cast<double>(ns) / 1e6; };
  curve.push_back({0, ms(sorted.front())});
  // 24 points a decade of 1 - q, up to the last but one request.
  for (int i = 1;; ++i) {
    const double q = 1 - std::pow(10.0, -i / 24.0);
    if ((1 - q) * n < 1) break;
    curve.push_back({q, ms(nearest_rank(sorted, q))});
  }
  curve.push_back({1 - 1 / (n + 1), ms(sorted.back())});
  return curve;
}

}  // namespace tauto::lab
