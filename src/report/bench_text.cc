#include "report/bench_text.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "report/table.h"

namespace tauto::report {
namespace {

const Percentile* find(const Distribution& d, std::string_view name) {
  for (const auto& p : d.percentiles) {
    if (p.name == name) return &p;
  }
  return nullptr;
}

std::string cell(const Distribution& d, std::string_view name) {
  const auto* p = find(d, name);
  return p != nullptr && p->value ? format_duration(*p->value) : "-";
}

std::vector<std::string> distribution_row(std::string name, const Distribution& d, bool first) {
  std::vector<std::string> row{std::move(name)};
  row.push_back(d.count == 0 ? "-" : format_duration(d.mean));
  // How many samples are missing is said once, in the first row.
  for (const auto& p : d.percentiles) {
    row.push_back(p.value || first ? percentile_text(p) : "-");
  }
  row.push_back(d.count == 0 ? "-" : format_duration(d.max));
  return row;
}

std::string aligned(const std::vector<std::vector<std::string>>& rows) {
  Table table;
  for (const auto& row : rows) table.add(row);
  return table.to_string();
}

}  // namespace

std::string percentile_text(const Percentile& percentile) {
  if (percentile.value) return format_duration(*percentile.value);
  return "not enough samples, need " + format_count(percentile.needed);
}

std::string headline(const BenchResult& result) {
  std::string text = result.interrupted ? "interrupted · " : "";
  text += format_count(result.planned) + (result.planned == 1 ? " request" : " requests") + " in " +
          format_duration(result.measured) + " · " + result.config.load;
  if (!result.config.rate) return text;
  if (!result.rate_kept)
    return "the client could not keep the rate: " + result.rate_reason + " · " + text;
  text += " · client kept the rate";
  // P99, or the highest below it that the samples support.
  const Percentile* best = nullptr;
  for (const auto& p : result.lag.percentiles) {
    if (p.q <= 0.99 && p.value) best = &p;
  }
  if (best != nullptr) text += " (lag " + best->name + " " + format_duration(*best->value) + ")";
  return text;
}

std::string goodput_text(const BenchResult& result) {
  if (!result.objective) return "";
  const auto& objective = *result.objective;
  const double share = result.planned == 0 ? 0
                                           : static_cast<double>(result.within) /
                                                 static_cast<double>(result.planned);
  const double seconds = to_s(result.measured);
  std::string text = format_share(share) + " within " + format_duration(objective.limit) + ", " +
                     format_number(seconds > 0 ? static_cast<double>(result.within) / seconds : 0) +
                     "/s";
  switch (objective.verdict) {
    case Objective::Verdict::kNone:
      break;
    case Objective::Verdict::kHolds:
      text += ": the objective " + objective.text + " holds";
      break;
    case Objective::Verdict::kFails:
      text += ": the objective " + objective.text + " fails";
      break;
    case Objective::Verdict::kUndecided:
      text += ": the objective " + objective.text + " is undecided, need " +
              format_count(objective.needed) + " requests";
      break;
  }
  return text;
}

std::string errors_text(const BenchResult& result) {
  if (result.failed == 0) return "none";
  std::string text =
      format_count(result.failed) + " of " + format_count(result.planned) + " (" +
      format_share(static_cast<double>(result.failed) / static_cast<double>(result.planned)) +
      "): ";
  bool first = true;
  for (const auto& error : result.errors) {
    if (!first) text += ", ";
    first = false;
    text += error.what + " " + format_count(error.count);
    if (!error.remark.empty()) text += " (" + error.remark + ")";
  }
  return text;
}

std::string throughput_text(const BenchResult& result) {
  std::string text = format_number(result.rate_done) + "/s";
  if (result.config.rows_per_request > 1) {
    text += ", " +
            format_number(result.rate_done * static_cast<double>(result.config.rows_per_request)) +
            " rows/s";
  }
  if (result.config.rate) {
    text +=
        " of " +
        format_number(static_cast<double>(result.planned) / std::max(to_s(result.measured), 1e-9)) +
        "/s asked";
  }
  // The first and the last second of a run may be cut: only whole ones are compared.
  std::uint64_t low = ~std::uint64_t{0}, high = 0, whole = 0;
  const auto from = to_s(result.config.warmup);
  for (const auto& second : result.seconds) {
    if (second.second < from || second.second + 1 > from + to_s(result.measured)) continue;
    low = std::min(low, second.ended);
    high = std::max(high, second.ended);
    ++whole;
  }
  if (whole > 1) text += "; by second " + format_count(low) + " to " + format_count(high);
  return text;
}

std::string client_text(const BenchResult& result) {
  std::string text = format_number(result.client_cpu_seconds) + " CPU s, " +
                     format_number(result.requests_per_cpu_second) + " requests per CPU-second, " +
                     format_count(result.connections_opened) +
                     (result.connections_opened == 1 ? " connection" : " connections") +
                     ", at most " + format_count(result.under_way_peak) + " under way";
  if (result.resent > 0) {
    text += "; " + format_count(result.resent) + " sent again: the idle connection was gone";
  }
  if (result.capped > 0) {
    text += "; " + format_count(result.capped) + " waited because all " +
            format_count(result.config.connections_max) +
            " connections were busy (part of their latency)";
  }
  return text;
}

std::vector<std::vector<std::string>> latency_rows(const BenchResult& result) {
  std::vector<std::string> head{"", "mean"};
  for (const auto& p : result.latency.percentiles) head.push_back(p.name);
  head.emplace_back("max");
  return {std::move(head), distribution_row("latency", result.latency, true),
          distribution_row("service", result.service, false),
          distribution_row("lag", result.lag, false)};
}

std::vector<std::vector<std::string>> stage_rows(const BenchResult& result) {
  std::vector<std::vector<std::string>> rows{{"where", "mean", "share", "P50", "P99"}};
  const auto whole = static_cast<double>(result.latency.mean.count());
  for (const auto& stage : result.stages) {
    if (stage.times.count == 0 || stage.times.max == Duration::zero()) continue;
    const auto mean = static_cast<double>(stage.times.mean.count());
    rows.push_back({stage.name, format_duration(stage.times.mean),
                    whole > 0 ? format_share(mean / whole) : "", cell(stage.times, "P50"),
                    cell(stage.times, "P99")});
  }
  return rows;
}

std::string bench_text(const BenchResult& result) {
  std::string text = headline(result) + "\n";
  if (result.ok > 0) {
    text += aligned(latency_rows(result));
    text += aligned(stage_rows(result));
    if (!result.server_timing_remark.empty()) text += result.server_timing_remark + "\n";
  } else {
    text += "no request succeeded: there is no latency to report\n";
  }
  Table facts;
  facts.add({"throughput", throughput_text(result)});
  facts.add({"errors", errors_text(result)});
  if (result.objective) facts.add({"goodput", goodput_text(result)});
  facts.add({"client", client_text(result)});
  return text + facts.to_string();
}

}  // namespace tauto::report
