#include "lab/summary.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "base/log_histogram.h"
#include "base/percentile.h"
#include "base/text.h"
#include "lab/objective.h"
#include "lab/series.h"

namespace tauto::lab {
namespace {

using report::BenchResult;
using report::Distribution;

struct NamedShare {
  double q;
  const char* name;
};
constexpr std::array<NamedShare, 5> kPercentiles{
    {{0.5, "P50"}, {0.9, "P90"}, {0.95, "P95"}, {0.99, "P99"}, {0.999, "P99.9"}}};

std::string error_name(const Sample& sample) {
  switch (sample.outcome) {
    case Outcome::kStatus:
      return "HTTP " + std::to_string(sample.status);
    case Outcome::kTimeout:
      return sample.has(Sample::kUnsent) ? "timeout before sending" : "timeout";
    case Outcome::kConnectRefused:
      return "connection refused";
    case Outcome::kConnectFailed:
      return "connection failed";
    case Outcome::kClosed:
      return "connection closed";
    case Outcome::kMalformed:
      return "malformed reply";
    case Outcome::kOk:
    case Outcome::kAborted:
      break;
  }
  return "none";
}

std::string error_remark(const std::string& what) {
  if (what == "HTTP 429") return "shed";
  if (what == "HTTP 503") return "not available";
  if (what == "HTTP 504") return "deadline passed";
  return "";
}

void count_errors(const LoadLog& log, const Window& window, BenchResult& result) {
  std::map<std::string, std::uint64_t> counts;
  for (std::size_t i = 0; i < log.samples.size(); ++i) {
    const auto& sample = log.samples[i];
    if (window.counts(sample) && sample.outcome != Outcome::kOk) ++counts[error_name(sample)];
  }
  for (auto& [what, count] : counts) {
    result.failed += count;
    result.errors.push_back({what, count, error_remark(what)});
  }
  std::stable_sort(result.errors.begin(), result.errors.end(),
                   [](const auto& a, const auto& b) { return a.count > b.count; });
}

void fill_distributions(const LoadLog& log, const Window& window, BenchResult& result) {
  std::vector<std::int64_t> latency, service, lag;
  LogHistogram histogram;
  for (std::size_t i = 0; i < log.samples.size(); ++i) {
    const auto& sample = log.samples[i];
    if (!window.counts(sample)) continue;
    if (!sample.has(Sample::kUnsent)) lag.push_back(sample.lag_ns());
    if (sample.outcome != Outcome::kOk) continue;
    latency.push_back(sample.latency_ns());
    service.push_back(sample.service_ns());
    histogram.add(static_cast<std::uint64_t>(std::max<std::int64_t>(sample.latency_ns(), 0)));
  }
  result.latency = distribution_of(latency);
  result.service = distribution_of(service);
  result.lag = distribution_of(lag);
  result.curve = curve_of(latency);
  result.service_curve = curve_of(service);
  for (std::size_t i = 0; i < histogram.counts().size(); ++i) {
    if (histogram.counts()[i] == 0) continue;
    result.histogram.push_back(
        {static_cast<std::int64_t>(LogBuckets::lower(i)), histogram.counts()[i]});
  }
}

void count_requests(const LoadLog& log, const Window& window, BenchResult& result) {
  std::uint64_t ended_inside = 0;
  for (std::size_t i = 0; i < log.samples.size(); ++i) {
    const auto& sample = log.samples[i];
    if (sample.has(Sample::kResent)) ++result.resent;
    if (sample.outcome == Outcome::kOk && window.contains(sample.done_ns)) ++ended_inside;
    if (!window.counts(sample)) continue;
    ++result.planned;
    result.sent += sample.has(Sample::kUnsent) ? 0 : 1;
    result.capped += sample.has(Sample::kCapped) ? 1 : 0;
    if (sample.outcome != Outcome::kOk) continue;
    ++result.ok;
    if (result.objective && sample.latency_ns() <= to_ns(result.objective->limit)) ++result.within;
  }
  result.warmup_requests = log.samples.size() - result.planned;
  const double seconds = to_s(result.measured);
  // Replies are counted when they come: late ones of an overload do not belong to the rate.
  result.rate_done = seconds > 0 ? static_cast<double>(ended_inside) / seconds : 0;
  const double whole = to_s(log.whole);
  result.bytes_per_second = whole > 0 ? static_cast<double>(log.bytes_received) / whole : 0;
}

/// One list of times for each part of the latency.
void fill_stages(const LoadLog& log, const Window& window, BenchResult& result) {
  const Breakdown breakdown(log);
  std::vector<std::vector<std::int64_t>> times(breakdown.parts().size());
  std::uint64_t told = 0;
  for (std::size_t i = 0; i < log.samples.size(); ++i) {
    const auto& sample = log.samples[i];
    if (!window.counts(sample) || sample.outcome != Outcome::kOk) continue;
    if (sample.stages != Sample::kNoStages) ++told;
    const auto split = breakdown.split(sample);
    for (std::size_t p = 0; p < times.size(); ++p) {
      if (!std::isnan(split[p])) times[p].push_back(std::llround(split[p] * 1e6));
    }
  }
  for (std::size_t p = 0; p < times.size(); ++p) {
    const auto& part = breakdown.parts()[p];
    result.stages.push_back({part.name, part.of_server, distribution_of(times[p])});
  }
  result.server_timing = told > 0;
  if (result.ok == 0) return;
  if (told == 0) {
    result.server_timing_remark =
        "the server sent no Server-Timing: where it spent the time is not known";
  } else if (!breakdown.has_total()) {
    result.server_timing_remark = "the server gives no total: the network's share is not known";
  } else if (told < result.ok) {
    result.server_timing_remark = "the server accounted for " + std::to_string(told) + " of " +
                                  std::to_string(result.ok) + " requests";
  } else if (log.stages.overflowed()) {
    result.server_timing_remark = "the server names more stages than are shown here";
  }
}

std::optional<Duration> value_of(const Distribution& d, std::string_view name) {
  for (const auto& p : d.percentiles) {
    if (p.name == name) return p.value;
  }
  return std::nullopt;
}

/// P99, or the highest percentile below it that the samples support.
std::pair<std::string, std::optional<Duration>> highest_known(const Distribution& d) {
  std::pair<std::string, std::optional<Duration>> result;
  for (const auto& p : d.percentiles) {
    if (p.q <= 0.99 && p.value) result = {p.name, p.value};
  }
  return result;
}

/// Why requests were sent late, by what most of the late ones had in common.
std::string lateness_cause(const LoadLog& log, const Window& window, std::int64_t limit_ns) {
  std::uint64_t late = 0, capped = 0, connecting = 0;
  for (std::size_t i = 0; i < log.samples.size(); ++i) {
    const auto& sample = log.samples[i];
    if (!window.counts(sample) || sample.lag_ns() <= limit_ns) continue;
    ++late;
    capped += sample.has(Sample::kCapped) ? 1 : 0;
    connecting += !sample.has(Sample::kCapped) && sample.has(Sample::kNewConnection) ? 1 : 0;
  }
  if (capped * 2 > late) return ", all connections were busy";
  if (connecting * 2 > late) return ", new connections had to be made";
  return "";
}

}  // namespace

Distribution distribution_of(std::vector<std::int64_t>& values_ns) {
  Distribution d;
  d.count = values_ns.size();
  for (const auto& [q, name] : kPercentiles) {
    report::Percentile p{q, name, std::nullopt, samples_needed(q)};
    d.percentiles.push_back(std::move(p));
  }
  if (values_ns.empty()) return d;
  std::sort(values_ns.begin(), values_ns.end());
  const std::span<const std::int64_t> sorted(values_ns);
  long double sum = 0;
  for (const auto v : sorted) sum += static_cast<long double>(v);
  d.mean = Duration{std::llround(sum / static_cast<long double>(sorted.size()))};
  d.min = Duration{sorted.front()};
  d.max = Duration{sorted.back()};
  for (auto& p : d.percentiles) {
    if (sorted.size() >= p.needed) p.value = Duration{nearest_rank(sorted, p.q)};
  }
  return d;
}

void summarise(const LoadLog& log, BenchResult& result) {
  const Window window{std::min(to_ns(result.config.warmup), to_ns(log.length)), to_ns(log.length)};
  result.interrupted = log.interrupted;
  result.measured = Duration{window.end_ns - window.begin_ns};
  count_requests(log, window, result);
  count_errors(log, window, result);
  fill_distributions(log, window, result);
  fill_stages(log, window, result);
  result.seconds = seconds_of(log);
  result.dots = dots_of(log, window);
  if (result.objective) judge(*result.objective, result.planned, result.within);
  result.client_cpu_seconds = log.cpu_seconds;
  result.requests_per_cpu_second =
      log.cpu_seconds > 0 ? static_cast<double>(log.samples.size()) / log.cpu_seconds : 0;
  result.connections_opened = log.connections_opened;
  result.under_way_peak = log.under_way_peak;
  judge_rate(log, result);
}

void judge_rate(const LoadLog& log, BenchResult& result) {
  result.rate_kept = true;
  result.rate_reason.clear();
  if (!result.config.rate || result.planned == 0) return;
  const Window window{to_ns(result.config.warmup), to_ns(log.length)};
  const auto sent = static_cast<double>(result.sent);
  const auto planned = static_cast<double>(result.planned);
  // With few samples a lower percentile decides: P99 is not below it.
  const auto [lag_name, lag] = highest_known(result.lag);
  const auto latency = value_of(result.latency, "P50");
  if (sent < 0.99 * planned) {
    result.rate_kept = false;
    result.rate_reason = "only " + std::to_string(result.sent) + " of " +
                         std::to_string(result.planned) + " requests were sent" +
                         lateness_cause(log, window, 0);
  } else if (lag && latency && to_ns(*lag) * 20 > to_ns(*latency)) {
    result.rate_kept = false;
    result.rate_reason = "lag " + lag_name + " " + format_duration(*lag) +
                         " is more than 5 % of the P50 " + format_duration(*latency) +
                         lateness_cause(log, window, to_ns(*latency) / 20);
  }
}

}  // namespace tauto::lab
