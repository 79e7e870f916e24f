#include "report/bench_html.h"

#include <utility>
#include <vector>

#include "base/json_writer.h"
#include "base/text.h"
#include "report/bench_text.h"
#include "report/html.h"
#include "report/page_files.h"
#include "report/table.h"

namespace tauto::report {
namespace {

using Rows = std::vector<std::vector<std::string>>;

void write_ms(JsonWriter& json, std::string_view name, const std::optional<Duration>& d) {
  json.key(name);
  if (d) {
    json.value(to_ms(*d));
  } else {
    json.null();
  }
}

void write_curve(JsonWriter& json, std::string_view name, const std::vector<CurvePoint>& curve) {
  json.key(name).begin_array();
  for (const auto& point : curve) {
    json.begin_array().value(point.q).value(point.latency_ms).end_array();
  }
  json.end_array();
}

/// What the plots need, in the units in which they show it.
std::string plot_data(const BenchResult& r) {
  std::string out;
  JsonWriter json(out);
  json.begin_object();
  json.field("length_s", to_s(r.config.warmup + r.measured));
  json.field("warmup_s", to_s(r.config.warmup)).field("open_loop", r.config.rate.has_value());
  write_ms(json, "limit_ms", r.objective ? std::optional(r.objective->limit) : std::nullopt);
  write_curve(json, "curve", r.curve);
  write_curve(json, "service_curve", r.service_curve);
  json.key("dots").begin_array();
  for (const auto& dot : r.dots) {
    json.begin_array().value(dot.at_s).value(dot.latency_ms).value(dot.ok).end_array();
  }
  json.end_array().key("parts").begin_array();
  for (const auto& stage : r.stages) json.value(std::string_view(stage.name));
  json.end_array().key("seconds").begin_array();
  for (const auto& s : r.seconds) {
    json.begin_object().field("second", s.second).field("asked", s.asked).field("sent", s.sent);
    json.field("ended", s.ended).field("ok", s.ok).field("failed", s.failed);
    write_ms(json, "p50", s.p50);
    write_ms(json, "p90", s.p90);
    write_ms(json, "p99", s.p99);
    json.field("max", to_ms(s.max)).key("stage_ms").begin_array();
    for (const auto ms : s.stage_ms) json.value(ms);
    json.end_array().end_object();
  }
  json.end_array().end_object();
  return escape_script_json(out);
}

std::string tile(std::string_view css_class, const std::string& name, const std::string& value,
                 const std::string& remark) {
  const bool is_long = display_width(value) > 14;
  return "<div class=\"tile " + std::string(css_class) + "\"><span>" + escape_html(name) +
         "</span><b" + (is_long ? " class=\"long\"" : "") + ">" + escape_html(value) +
         "</b><small>" + escape_html(remark) + "</small></div>\n";
}

std::string percentile_of(const Distribution& d, std::string_view name) {
  for (const auto& p : d.percentiles) {
    if (p.name == name) return percentile_text(p);
  }
  return "-";
}

std::string objective_tile(const BenchResult& r) {
  if (!r.objective) {
    return tile(r.failed == 0 ? "good" : "bad", "errors", format_count(r.failed),
                "of " + format_count(r.planned) + " requests");
  }
  using Verdict = Objective::Verdict;
  const auto share =
      r.planned == 0 ? 0 : static_cast<double>(r.within) / static_cast<double>(r.planned);
  const char* css_class = "";
  std::string remark = "within " + format_duration(r.objective->limit);
  if (r.objective->verdict == Verdict::kHolds) {
    css_class = "good";
    remark = r.objective->text + " holds";
  } else if (r.objective->verdict == Verdict::kFails) {
    css_class = "bad";
    remark = r.objective->text + " fails";
  } else if (r.objective->verdict == Verdict::kUndecided) {
    css_class = "open";
    remark = r.objective->text + " undecided";
  }
  return tile(css_class, "goodput", format_share(share), remark);
}

std::string tiles(const BenchResult& r) {
  std::string out = "<div class=\"tiles\">\n";
  const std::string asked =
      r.config.rate ? "of " + format_number(*r.config.rate) + "/s asked" : r.config.load;
  out += tile("", "latency P50", percentile_of(r.latency, "P50"),
              "mean " + (r.ok > 0 ? format_duration(r.latency.mean) : "-"));
  out += tile("", "latency P99", percentile_of(r.latency, "P99"),
              "P90 " + percentile_of(r.latency, "P90"));
  out += tile("", "slowest", r.ok > 0 ? format_duration(r.latency.max) : "-",
              "of " + format_count(r.ok) + " good replies");
  out += tile("", "throughput", format_number(r.rate_done) + "/s", asked);
  out += objective_tile(r);
  return out + "</div>\n";
}

std::string plot_section(std::string_view id, std::string_view title, std::string_view text,
                         std::string_view css_class = "") {
  std::string out = "<section class=\"" + std::string(css_class) + "\"><h2>";
  out.append(title).append("</h2><p>").append(text).append("</p>");
  out.append("<div class=\"plot\" id=\"").append(id).append("\"></div><div class=\"legend\" id=\"");
  out.append(id).append("-legend\"></div></section>\n");
  return out;
}

std::string table_section(std::string_view title, const std::string& remark,
                          const std::string& table, std::string_view css_class = "wide") {
  return "<section class=\"" + std::string(css_class) + "\"><h2>" + std::string(title) +
         "</h2><p>" + escape_html(remark) + "</p>" + table + "</section>\n";
}

Rows facts(const BenchResult& r) {
  Rows rows{{"throughput", throughput_text(r)}, {"errors", errors_text(r)}};
  if (r.objective) rows.push_back({"goodput", goodput_text(r)});
  rows.push_back({"client", client_text(r)});
  rows.push_back({"target", r.config.target + ", " + r.config.request});
  rows.push_back({"load", r.config.load + ", seed " + std::to_string(r.config.seed) + ", warm-up " +
                              format_duration(r.config.warmup) + ", timeout " +
                              format_duration(r.config.timeout) + ", " +
                              format_count(r.config.distinct_requests) + " different requests"});
  rows.push_back({"machine", r.machine.cpu + ", " + std::to_string(r.machine.cpus) + " CPUs, " +
                                 format_number(static_cast<double>(r.machine.memory_bytes) /
                                               (1024.0 * 1024 * 1024)) +
                                 " GiB, " + r.machine.kernel});
  return rows;
}

}  // namespace

std::string bench_html(const BenchResult& result) {
  const auto& config = result.config;
  const bool warn = !result.rate_kept || result.interrupted;
  std::string out = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  out += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>";
  out += escape_html(config.request + " · " + config.load) + " · tauto bench</title>\n<style>\n";
  out.append(bench_style()).append("</style>\n</head>\n<body>\n<main>\n<h1>tauto bench</h1>\n");
  out += std::string("<div class=\"headline") + (warn ? " warn" : "") + "\">" +
         escape_html_unbroken(headline(result)) + "</div>\n<p class=\"subject\">" +
         escape_html(config.target + " · " + config.request + " · " + result.machine.started) +
         "</p>\n";
  out += tiles(result) + "<div class=\"grid\">\n";
  out += plot_section("timeline", "Latency over time",
                      "Each dot is a request at its intended start: the slowest and the failed of "
                      "each moment, and a sample of the others.",
                      "wide");
  out += plot_section("distribution", "Latency distribution",
                      "The axis stretches the slow end: each step to the right holds a tenth of "
                      "the requests before it.");
  out += plot_section("stages", "Where the time goes", "Mean latency by stage, second by second.");
  out += plot_section("throughput", "Throughput", "By second.");
  out +=
      table_section("Stages",
                    result.server_timing_remark.empty() ? "Means, and their share of the latency."
                                                        : result.server_timing_remark,
                    html_table(stage_rows(result), ""), "");
  out += table_section("Latency",
                       "From the intended start; service from the first byte sent; lag "
                       "is the difference.",
                       html_table(latency_rows(result), ""));
  out += table_section("The run", "", html_table(facts(result), "facts", false));
  out +=
      "</div>\n<footer>Percentiles are nearest rank on raw samples of good replies. Errors are "
      "never in them, and always in the goodput's denominator.</footer>\n</main>\n";
  out += "<script type=\"application/json\" id=\"data\">" + plot_data(result) + "</script>\n";
  out.append("<script>\n").append(bench_script()).append("</script>\n</body>\n</html>\n");
  return out;
}

}  // namespace tauto::report
