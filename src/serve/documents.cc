#include "serve/documents.h"

#include <chrono>

#include "base/json_writer.h"
#include "journey/journeys_json.h"
#include "serve/version.h"

namespace tauto::serve {
namespace {

void write_tensors(JsonWriter& json, const std::vector<model::TensorConfig>& tensors,
                   bool batched) {
  json.begin_array();
  for (const auto& tensor : tensors) {
    json.begin_object().field("name", std::string_view(tensor.name));
    json.field("datatype", protocol_name(tensor.type)).key("shape").begin_array();
    if (batched) json.value(-1);
    for (const auto dim : tensor.dims.dims()) json.value(dim);
    json.end_array().end_object();
  }
  json.end_array();
}

void write_duration(JsonWriter& json, std::string_view name, std::uint64_t count,
                    std::uint64_t ns) {
  json.key(name).begin_object().field("count", count).field("ns", ns).end_object();
}

void write_batches(JsonWriter& json, const std::vector<BatchStatistics>& batches) {
  json.key("batch_stats").begin_array();
  for (const auto& b : batches) {
    json.begin_object().field("batch_size", b.rows);
    write_duration(json, "compute_input", b.count, b.input_ns);
    write_duration(json, "compute_infer", b.count, b.infer_ns);
    write_duration(json, "compute_output", b.count, b.output_ns);
    json.end_object();
  }
  json.end_array();
}

/// Milliseconds since the Unix epoch of a moment on the monotonic clock; 0 for never.
std::uint64_t unix_ms(std::optional<Instant> at, Instant now) {
  if (!at) return 0;
  const auto wall = std::chrono::system_clock::now().time_since_epoch() - (now - *at);
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(wall).count());
}

void write_statistics(JsonWriter& json, const ModelHost& host) {
  const auto s = host.statistics().snapshot();
  json.begin_object().field("name", std::string_view(host.name()));
  json.field("version", std::string_view(host.version_text()));
  json.field("last_inference", unix_ms(s.last_inference, host.clock().now()));
  json.field("inference_count", s.inference_count);
  json.field("execution_count", s.execution_count);
  json.key("inference_stats").begin_object();
  write_duration(json, "success", s.success_count, s.success_ns);
  write_duration(json, "fail", s.fail_count, s.fail_ns);
  write_duration(json, "queue", s.success_count, s.queue_ns);
  write_duration(json, "compute_input", s.success_count, s.input_ns);
  write_duration(json, "compute_infer", s.success_count, s.infer_ns);
  write_duration(json, "compute_output", s.success_count, s.output_ns);
  write_duration(json, "cache_hit", 0, 0);
  write_duration(json, "cache_miss", 0, 0);
  json.end_object().key("response_stats").begin_object().end_object();
  write_batches(json, s.batches);
  json.key("memory_usage").begin_array();
  const auto memory = host.loaded().report.memory_bytes;
  if (memory > 0) {
    json.begin_object().field("type", "CPU").field("id", 0).field("byte_size", memory).end_object();
  }
  json.end_array().end_object();
}

}  // namespace

void write_error(std::string& out, std::string_view message) {
  JsonWriter(out).begin_object().field("error", message).end_object();
}

std::string server_metadata_json(const std::string& id) {
  std::string out;
  JsonWriter json(out);
  json.begin_object().field("name", std::string_view(id)).field("version", kVersion);
  json.key("extensions").begin_array();
  for (const char* extension : {"model_configuration", "schedule_policy", "binary_tensor_data",
                                "parameters", "statistics"}) {
    json.value(extension);
  }
  json.end_array().end_object();
  return out;
}

std::string model_metadata_json(const Catalog& catalog, const ModelHost& host, bool one_version) {
  const auto& config = host.loaded().config;
  std::string out;
  JsonWriter json(out);
  json.begin_object().field("name", std::string_view(host.name())).key("versions").begin_array();
  if (one_version) {
    json.value(std::string_view(host.version_text()));
  } else {
    for (const auto v : catalog.ready_versions(host.name())) json.value(std::to_string(v));
  }
  json.end_array().field("platform", std::string_view(config.platform_shown));
  json.key("inputs");
  write_tensors(json, config.inputs, config.rows_max > 0);
  json.key("outputs");
  write_tensors(json, config.outputs, config.rows_max > 0);
  json.end_object();
  return out;
}

std::string statistics_json(const std::vector<const ModelHost*>& hosts) {
  std::string out;
  JsonWriter json(out);
  json.begin_object().key("model_stats").begin_array();
  for (const auto* host : hosts) write_statistics(json, *host);
  json.end_array().end_object();
  return out;
}

std::string journeys_json(const ModelHost& host) {
  const auto stages = host.stages().snapshot();
  const Instant now = host.clock().now();
  const auto slowest = host.slowest().snapshot(now);
  const auto labels = host.labels().snapshot();
  std::string out;
  journey::append_journeys_json({host.name(), host.version_text(), now, stages, slowest, labels},
                                out);
  return out;
}

std::string repository_index_json(const Catalog& catalog, bool only_ready) {
  std::string out;
  JsonWriter json(out);
  json.begin_array();
  for (const auto& entry : catalog.entries()) {
    if (only_ready && entry.state != model::ModelState::kReady) continue;
    json.begin_object().field("name", std::string_view(entry.name));
    if (entry.version) json.field("version", std::string_view(std::to_string(*entry.version)));
    json.field("state", model::state_name(entry.state));
    if (!entry.reason.empty()) json.field("reason", std::string_view(entry.reason));
    json.end_object();
  }
  json.end_array();
  return out;
}

}  // namespace tauto::serve
