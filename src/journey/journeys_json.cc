#include "journey/journeys_json.h"

#include "base/json_writer.h"
#include "base/percentile.h"

namespace tauto::journey {
namespace {

void write_histogram(const LogHistogram& ns, JsonWriter& json) {
  struct Rank {
    std::string_view name;
    std::uint64_t per_million;
    double q;
  };
  static constexpr std::array<Rank, 4> kRanks{{{"p50", 500'000, 0.5},
                                               {"p90", 900'000, 0.9},
                                               {"p99", 990'000, 0.99},
                                               {"p999", 999'000, 0.999}}};
  json.begin_object().field("unit", "ns").field("count", ns.count()).field("sum", ns.sum());
  json.field("min", ns.min()).field("max", ns.max());
  for (const Rank& rank : kRanks) {
    json.key(rank.name);
    if (ns.count() < samples_needed(rank.q)) {
      json.null();
    } else {
      json.value(ns.at_per_million(rank.per_million));
    }
  }
  json.key("buckets").begin_array();
  for (std::size_t i = 0; i < ns.counts().size(); ++i) {
    if (ns.counts()[i] == 0) continue;
    json.begin_array().value(LogBuckets::lower(i)).value(ns.counts()[i]).end_array();
  }
  json.end_array().end_object();
}

void write_outcomes(const OutcomeCounts& outcomes, JsonWriter& json) {
  json.begin_object();
  for (std::size_t i = 0; i < kOutcomeCount; ++i) json.field(kOutcomeNames[i], outcomes[i]);
  json.end_object();
}

void write_exemplar(const Exemplar& e, Instant now, JsonWriter& json) {
  json.begin_object().field("request", e.request);
  json.key("id").value(e.client_id);
  json.key("model").value(e.model).key("version").value(e.version);
  json.key("labels").begin_object();
  for (const auto& [name, value] : e.labels) json.key(name).value(value);
  json.end_object();
  json.field("started_seconds_ago", to_s(now - e.started));
  json.field("outcome", outcome_name(e.outcome));
  json.field("total_ns", to_ns(e.total));
  json.key("stages_ns").begin_object();
  for (std::size_t i = 0; i < kStageCount; ++i) json.field(kStageNames[i], to_ns(e.stages[i]));
  json.end_object();
  json.field("queue_depth", e.queue_depth);
  json.key("batch");
  if (e.batch_rows == 0) {
    json.null();
  } else {
    json.begin_object().field("number", e.batch).field("rows", e.batch_rows);
    json.field("requests", e.batch_requests).field("instance", e.instance);
    json.field("reason", e.dispatch_reason).end_object();
  }
  json.end_object();
}

void write_minute(const Slowest::Minute& minute, Instant now, JsonWriter& json) {
  json.begin_object().field("started_seconds_ago", to_s(now - minute.start));
  json.key("requests").begin_array();
  for (const Exemplar& e : minute.requests) write_exemplar(e, now, json);
  json.end_array().end_object();
}

void write_label(const LabelSnapshot& label, JsonWriter& json) {
  json.begin_object().key("name").value(label.name).key("value").value(label.value);
  json.key("outcomes");
  write_outcomes(label.outcomes, json);
  json.key("total");
  write_histogram(label.total, json);
  json.end_object();
}

}  // namespace

std::array<std::uint64_t, kBoundsSeconds.size() + 1> reduce_to_bounds(const LogHistogram& ns) {
  std::array<std::uint64_t, kBoundsSeconds.size() + 1> result{};
  std::size_t bound = 0;
  for (std::size_t i = 0; i < ns.counts().size(); ++i) {
    if (ns.counts()[i] == 0) continue;
    while (bound < kBoundsSeconds.size() &&
           static_cast<double>(LogBuckets::lower(i)) > kBoundsSeconds[bound] * 1e9 + 0.5) {
      ++bound;
    }
    result[bound] += ns.counts()[i];
  }
  for (std::size_t i = 1; i < result.size(); ++i) result[i] += result[i - 1];
  return result;
}

void append_histogram_json(const LogHistogram& ns, std::string& out) {
  JsonWriter json(out);
  write_histogram(ns, json);
}

void append_journeys_json(const JourneysPage& page, std::string& out) {
  JsonWriter json(out);
  json.begin_object().field("model", page.model).field("version", page.version);
  json.key("outcomes");
  write_outcomes(page.stages.outcomes, json);
  json.key("total");
  write_histogram(page.stages.total, json);
  json.key("stages").begin_object();
  for (std::size_t i = 0; i < kStageCount; ++i) {
    json.key(kStageNames[i]);
    write_histogram(page.stages.stages[i], json);
  }
  json.end_object();
  json.key("slowest").begin_array();
  for (const auto& minute : page.slowest) write_minute(minute, page.now, json);
  json.end_array();
  json.key("labels").begin_array();
  for (const auto& label : page.labels) write_label(label, json);
  json.end_array().end_object();
}

}  // namespace tauto::journey
