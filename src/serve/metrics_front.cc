#include "serve/metrics_front.h"

#include <array>
#include <vector>

#include "journey/journeys_json.h"
#include "serve/device_group.h"
#include "serve/documents.h"
#include "serve/model_host.h"
#include "wire/prometheus.h"

namespace tauto::serve {
namespace {

using wire::MetricLabel;
using wire::MetricType;

/// What one scrape needs of one model, taken once.
struct Snapshot {
  const ModelHost* host;
  StatisticsSnapshot statistics;
  journey::StageSnapshot stages;
  std::vector<journey::LabelSnapshot> labels;
  std::vector<std::pair<std::string, std::string>> tags;  // metric_tags, as `_<tag>`

  /// model, version and the model's own tags, then `more`.
  std::vector<MetricLabel> labels_with(std::initializer_list<MetricLabel> more) const {
    std::vector<MetricLabel> all{{"model", host->name()}};
    all.insert(all.end(), more.begin(), more.end());
    all.push_back({"version", host->version_text()});
    for (const auto& [name, value] : tags) all.push_back({name, value});
    return all;
  }
};

void write_triton_counters(wire::PrometheusWriter& page, const std::vector<Snapshot>& models) {
  const auto counter = [&](std::string_view name, std::string_view help, auto value) {
    page.family(name, help, MetricType::kCounter);
    for (const auto& m : models) page.sample(m.labels_with({}), value(m.statistics));
  };
  using S = const StatisticsSnapshot&;
  counter("nv_inference_request_success",
          "Number of successful inference requests, all batch sizes",
          [](S s) { return s.success_count; });
  page.family("nv_inference_request_failure",
              "Number of failed inference requests, all batch sizes", MetricType::kCounter);
  for (const auto& m : models) {
    for (std::size_t i = 0; i < kFailureReasonNames.size(); ++i) {
      page.sample(m.labels_with({{"reason", kFailureReasonNames[i]}}), m.statistics.failures[i]);
    }
  }
  counter("nv_inference_count", "Number of inferences performed (does not include cached requests)",
          [](S s) { return s.inference_count; });
  counter("nv_inference_exec_count",
          "Number of model executions performed (does not include cached requests)",
          [](S s) { return s.execution_count; });
  counter("nv_inference_request_duration_us",
          "Cumulative inference request duration in microseconds (includes cached requests)",
          [](S s) { return s.success_ns / 1000; });
  counter("nv_inference_queue_duration_us",
          "Cumulative inference queuing duration in microseconds (includes cached requests)",
          [](S s) { return s.queue_ns / 1000; });
  counter("nv_inference_compute_input_duration_us",
          "Cumulative compute input duration in microseconds (does not include cached requests)",
          [](S s) { return s.input_ns / 1000; });
  counter(
      "nv_inference_compute_infer_duration_us",
      "Cumulative compute inference duration in microseconds (does not include cached requests)",
      [](S s) { return s.infer_ns / 1000; });
  counter("nv_inference_compute_output_duration_us",
          "Cumulative inference compute output duration in microseconds (does not include cached "
          "requests)",
          [](S s) { return s.output_ns / 1000; });
}

void write_gauges(wire::PrometheusWriter& page, const std::vector<Snapshot>& models) {
  page.family("nv_inference_pending_request_count",
              "Instantaneous number of pending requests awaiting execution per-model.",
              MetricType::kGauge);
  for (const auto& m : models) {
    page.sample(m.labels_with({}), m.host->group().queue_depth(*m.host));
  }
  page.family("nv_model_load_duration_secs", "Model load time in seconds", MetricType::kGauge);
  for (const auto& m : models) {
    const auto& report = m.host->loaded().report;
    page.sample(m.labels_with({}),
                to_s(report.read + report.load + report.first_run + report.warm));
  }
}

void write_histogram(wire::PrometheusWriter& page, std::span<const MetricLabel> labels,
                     const LogHistogram& histogram) {
  const auto buckets = journey::reduce_to_bounds(histogram);
  page.histogram(labels, journey::kBoundsSeconds, buckets,
                 static_cast<double>(histogram.sum()) / 1e9);
}

void write_journeys(wire::PrometheusWriter& page, const std::vector<Snapshot>& models) {
  page.family("tauto_requests_total", "Requests by how they ended", MetricType::kCounter);
  for (const auto& m : models) {
    for (std::size_t i = 0; i < journey::kOutcomeCount; ++i) {
      page.sample(m.labels_with({{"outcome", journey::kOutcomeNames[i]}}), m.stages.outcomes[i]);
    }
  }
  page.family("tauto_request_seconds", "Served requests: first byte seen to last byte sent",
              MetricType::kHistogram);
  for (const auto& m : models) write_histogram(page, m.labels_with({}), m.stages.total);
  page.family("tauto_stage_seconds", "Served requests: time in each stage of the journey",
              MetricType::kHistogram);
  for (const auto& m : models) {
    for (std::size_t i = 0; i < journey::kStageCount; ++i) {
      write_histogram(page, m.labels_with({{"stage", journey::kStageNames[i]}}),
                      m.stages.stages[i]);
    }
  }
  page.family("tauto_label_requests_total", "Requests by business label and how they ended",
              MetricType::kCounter);
  for (const auto& m : models) {
    for (const auto& label : m.labels) {
      for (std::size_t i = 0; i < journey::kOutcomeCount; ++i) {
        page.sample(m.labels_with({{"label", label.name},
                                   {"value", label.value},
                                   {"outcome", journey::kOutcomeNames[i]}}),
                    label.outcomes[i]);
      }
    }
  }
  page.family("tauto_label_request_seconds", "Served requests by business label",
              MetricType::kHistogram);
  for (const auto& m : models) {
    for (const auto& label : m.labels) {
      write_histogram(page, m.labels_with({{"label", label.name}, {"value", label.value}}),
                      label.total);
    }
  }
}

}  // namespace

std::string metrics_page(const Catalog& catalog) {
  std::vector<Snapshot> models;
  for (const auto& host : catalog.hosts()) {
    Snapshot one{host.get(),
                 host->statistics().snapshot(),
                 host->stages().snapshot(),
                 host->labels().snapshot(),
                 {}};
    for (const auto& [tag, value] : host->loaded().config.metric_tags) {
      one.tags.emplace_back("_" + tag, value);
    }
    models.push_back(std::move(one));
  }
  std::string out;
  wire::PrometheusWriter page(out);
  write_triton_counters(page, models);
  write_gauges(page, models);
  write_journeys(page, models);
  return out;
}

void MetricsFront::on_request(net::HttpExchange& exchange) {
  const bool reads =
      exchange.method() == net::Method::kGet || exchange.method() == net::Method::kHead;
  if (!reads) {
    write_error(exchange.text(), "Method Not Allowed");
    exchange.extra_headers() += "Allow: GET, HEAD\r\n";
    return exchange.reply_text(405, "application/json", exchange.text());
  }
  const Catalog* catalog = catalog_.load(std::memory_order_acquire);
  const bool asked = exchange.path() == "/metrics" || exchange.path() == "/metrics/";
  if (asked && catalog != nullptr) exchange.text() = metrics_page(*catalog);
  // Triton answers any other path with an empty page; so do we, for the probes that rely on it.
  exchange.reply_text(200, wire::PrometheusWriter::kContentType, exchange.text());
}

}  // namespace tauto::serve
