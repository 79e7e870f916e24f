#include "report/bench_json.h"

#include "base/json_writer.h"

namespace tauto::report {
namespace {

void write_optional(JsonWriter& json, std::string_view name, const std::optional<Duration>& d) {
  json.key(name);
  if (d) {
    json.value(to_ns(*d));
  } else {
    json.null();
  }
}

void write_distribution(JsonWriter& json, const Distribution& d) {
  json.begin_object().field("count", d.count).field("mean_ns", to_ns(d.mean));
  json.field("min_ns", to_ns(d.min)).field("max_ns", to_ns(d.max));
  json.key("percentiles").begin_array();
  for (const auto& p : d.percentiles) {
    json.begin_object().field("name", std::string_view(p.name)).field("q", p.q);
    write_optional(json, "value_ns", p.value);
    json.field("samples_needed", p.needed).end_object();
  }
  json.end_array().end_object();
}

void write_config(JsonWriter& json, const BenchConfig& c) {
  json.key("config").begin_object();
  json.field("target", std::string_view(c.target)).field("request", std::string_view(c.request));
  json.field("arrivals", std::string_view(c.arrivals));
  json.key("rate");
  if (c.rate) {
    json.value(*c.rate);
  } else {
    json.null();
  }
  json.field("concurrency", c.concurrency).field("seed", c.seed);
  json.field("length_ns", to_ns(c.length)).field("warmup_ns", to_ns(c.warmup));
  json.field("timeout_ns", to_ns(c.timeout)).field("connections_max", c.connections_max);
  json.field("spin", c.spin).field("distinct_requests", c.distinct_requests);
  json.field("rows_per_request", c.rows_per_request).end_object();
}

void write_machine(JsonWriter& json, const Machine& m) {
  json.key("machine").begin_object();
  json.field("cpu", std::string_view(m.cpu)).field("cpus", m.cpus);
  json.field("memory_bytes", m.memory_bytes).field("kernel", std::string_view(m.kernel));
  json.field("program", std::string_view(m.program));
  json.field("started", std::string_view(m.started)).end_object();
}

void write_counts(JsonWriter& json, const BenchResult& r) {
  json.field("interrupted", r.interrupted).field("measured_ns", to_ns(r.measured));
  json.field("planned", r.planned).field("sent", r.sent).field("ok", r.ok);
  json.field("failed", r.failed).field("warmup_requests", r.warmup_requests);
  json.field("rate_done", r.rate_done).field("bytes_per_second", r.bytes_per_second);
  json.field("rate_kept", r.rate_kept).field("rate_reason", std::string_view(r.rate_reason));
  json.key("errors").begin_array();
  for (const auto& e : r.errors) {
    json.begin_object()
        .field("what", std::string_view(e.what))
        .field("count", e.count)
        .end_object();
  }
  json.end_array();
  json.key("client").begin_object();
  json.field("cpu_seconds", r.client_cpu_seconds);
  json.field("requests_per_cpu_second", r.requests_per_cpu_second);
  json.field("connections_opened", r.connections_opened);
  json.field("under_way_peak", r.under_way_peak);
  json.field("resent", r.resent).field("waited_for_connection", r.capped).end_object();
}

std::string_view verdict_name(Objective::Verdict verdict) {
  switch (verdict) {
    case Objective::Verdict::kHolds:
      return "holds";
    case Objective::Verdict::kFails:
      return "fails";
    case Objective::Verdict::kUndecided:
      return "undecided";
    case Objective::Verdict::kNone:
      break;
  }
  return "none";
}

void write_objective(JsonWriter& json, const BenchResult& r) {
  json.key("objective");
  if (!r.objective) {
    json.null();
    return;
  }
  json.begin_object().field("text", std::string_view(r.objective->text));
  json.field("limit_ns", to_ns(r.objective->limit)).field("within", r.within);
  json.field("verdict", verdict_name(r.objective->verdict)).end_object();
}

void write_seconds(JsonWriter& json, const BenchResult& r) {
  json.key("seconds").begin_array();
  for (const auto& s : r.seconds) {
    json.begin_object().field("second", s.second).field("asked", s.asked).field("sent", s.sent);
    json.field("ended", s.ended).field("ok", s.ok).field("failed", s.failed);
    write_optional(json, "p50_ns", s.p50);
    write_optional(json, "p90_ns", s.p90);
    write_optional(json, "p99_ns", s.p99);
    json.field("max_ns", to_ns(s.max)).key("stage_ms").begin_array();
    for (const auto ms : s.stage_ms) json.value(ms);
    json.end_array().end_object();
  }
  json.end_array();
}

}  // namespace

std::string bench_json(const BenchResult& result) {
  std::string out;
  JsonWriter json(out);
  json.begin_object().field("format", "tauto-bench/1");
  write_config(json, result.config);
  write_machine(json, result.machine);
  write_counts(json, result);
  write_objective(json, result);
  json.key("latency");
  write_distribution(json, result.latency);
  json.key("service");
  write_distribution(json, result.service);
  json.key("lag");
  write_distribution(json, result.lag);
  json.field("server_timing", result.server_timing);
  json.key("stages").begin_array();
  for (const auto& stage : result.stages) {
    json.begin_object().field("name", std::string_view(stage.name));
    json.field("of_server", stage.of_server).key("times");
    write_distribution(json, stage.times);
    json.end_object();
  }
  json.end_array();
  write_seconds(json, result);
  json.key("latency_histogram").begin_array();
  for (const auto& bucket : result.histogram) {
    json.begin_array().value(bucket.from_ns).value(bucket.count).end_array();
  }
  json.end_array().end_object();
  TAUTO_CHECK(json.done());
  return out + "\n";
}

}  // namespace tauto::report
