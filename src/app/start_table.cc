#include "app/start_table.h"

#include <cstdio>

#include "base/text.h"
#include "model/tauto_keys.h"
#include "report/table.h"

namespace tauto::app {
namespace {

std::string ms(Duration d) {
  char text[32];
  std::snprintf(text, sizeof text, "%.0f", to_ms(d));
  return text;
}

std::string ready_cell(const model::LoadReport& r) {
  std::string text = ms(r.read + r.load + r.first_run) + " ms = read " + ms(r.read) + " + load " +
                     ms(r.load) + " + first run " + ms(r.first_run);
  if (r.rows_warmed > 0) {
    text += " (up to " + std::to_string(r.rows_warmed) + " rows warmed by " + ms(r.warm) + " ms)";
  }
  return text;
}

std::string batch_cell(const model::LoadedModel& m) {
  if (m.config.rows_max == 0) return "none";
  return m.config.rows_max == 1 ? "1" : "1.." + std::to_string(m.config.rows_max);
}

std::string optional_duration(const std::optional<Duration>& d) {
  return d ? format_duration(*d) : "-";
}

}  // namespace

std::string start_table(const std::vector<model::LoadOutcome>& outcomes) {
  report::Table table;
  table.add({"model", "engine", "instances", "policy", "batch", "l(1)", "l(max)", "ready"});
  std::size_t ready = 0;
  std::string below;
  for (const auto& outcome : outcomes) {
    if (outcome.loaded == nullptr) {
      below += "not ready: " + outcome.name + ": " + outcome.reason + "\n";
      continue;
    }
    ++ready;
    const auto& m = *outcome.loaded;
    const auto& r = m.report;
    const std::string name = m.version == 1 ? m.name : m.name + " v" + std::to_string(m.version);
    table.add({name, m.config.backend,
               std::to_string(r.instances) + " x " + std::to_string(r.threads) + " thr",
               std::string(model::policy_name(m.config.scheduling.policy)), batch_cell(m),
               optional_duration(r.one_row), optional_duration(r.rows_max), ready_cell(r)});
    if (r.batching_pays && !*r.batching_pays && m.config.rows_max > 1) {
      below += m.name + ": batching does not pay here (l(b)/b does not fall)\n";
    }
    for (const auto& note : r.notes) below += m.name + ": " + note + "\n";
    for (const auto& advisory : m.config.advisories) below += m.name + ": " + advisory + "\n";
  }
  return (ready > 0 ? table.to_string() : std::string()) + below;
}

std::string start_problem(const std::vector<model::LoadOutcome>& outcomes, bool exit_on_error) {
  std::size_t ready = 0;
  for (const auto& outcome : outcomes) ready += outcome.loaded != nullptr ? 1 : 0;
  if (ready == 0) return "none of the models could be loaded; the reasons stand above";
  if (exit_on_error && ready < outcomes.size()) {
    return "a model could not be loaded and --exit-on-error=true; the reason stands above";
  }
  return {};
}

std::string ready_line(const serve::Server& server, const serve::ServerOptions& options) {
  std::string line;
  if (options.http) line += "HTTP " + std::to_string(server.http_port()) + "  ";
  if (options.metrics) line += "metrics " + std::to_string(server.metrics_port()) + "  ";
  return line + "ready\n";
}

}  // namespace tauto::app
