#include "app/bench_flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <vector>

#include "app/flag_help.h"
#include "base/text.h"
#include "lab/objective.h"

namespace tauto::app {
namespace {

constexpr const char* kFooter =
    R"(Examples:
  tauto bench --model minilm --shape input_ids:1,128 --rate 80 --slo 'p99<30ms' --html run.html
  tauto bench --model minilm --concurrency 8 --duration 30s
  tauto bench --post http://127.0.0.1:9000/predict --input bodies.jsonl --rate 200
  tauto bench --get http://127.0.0.1:8080/ --concurrency 16

Latency counts from the moment a request was meant to start. Durations carry a unit: 200us, 10s.
Exit code: 0 measured, 1 could not run or nothing succeeded, 2 bad flags, 3 the objective of --slo
failed or could not be decided.)";

/// Flags as text, before they mean anything.
struct RawFlags {
  std::string model, version, url = "127.0.0.1:8000", post, get;
  std::vector<std::string> shapes, headers;
  std::string batch, int_max = "100", deadline, body, input;
  bool binary = false, json_tensors = false, no_journey = false;
  std::string concurrency, rate, arrivals = "poisson", duration = "10s", warmup = "1s";
  std::string timeout = "30s", seed = "1", connections = "1024", spin = "auto";
  std::string slo, json, html;
  bool quiet = false;
};

Error bad(std::string message) { return Error{Code::kInvalidArgument, std::move(message)}; }

void add_target_flags(CLI::App& app, RawFlags& f) {
  const std::string what = "What to load (one of --model, --post, --get)";
  app.add_option("--model", f.model, "a model served by KServe v2, with random inputs")
      ->group(what);
  app.add_option("--version", f.version, "its version; default: the server's choice")->group(what);
  app.add_option("--url", f.url, "the server of --model [127.0.0.1:8000]")->group(what);
  app.add_option("--post", f.post, "any URL, by POST; bodies from --body or --input")->group(what);
  app.add_option("--get", f.get, "any URL, by GET")->group(what);

  const std::string how = "Requests";
  app.add_option("--shape", f.shapes, "NAME:DIM,DIM... for inputs with open dimensions; repeatable")
      ->group(how);
  app.add_option("--batch", f.batch, "rows per request [1]")->group(how);
  app.add_flag("--binary", f.binary, "tensors as raw bytes (the default)")->group(how);
  app.add_flag("--json-tensors", f.json_tensors, "tensors as JSON numbers")->group(how);
  app.add_option("--int-max", f.int_max, "integer inputs are random in 0..N [100]")->group(how);
  app.add_option("--deadline", f.deadline, "sends the parameter deadline_us, for example 50ms")
      ->group(how);
  app.add_option("--body", f.body, "FILE: the body of every request")->group(how);
  app.add_option("--input", f.input, "FILE.jsonl: one body a line, in order, then again")
      ->group(how);
  app.add_option("--header", f.headers, "'Name: value'; repeatable")->group(how);
  app.add_flag("--no-journey", f.no_journey, "do not ask the server where the time goes")
      ->group(how);
}

void add_load_flags(CLI::App& app, RawFlags& f) {
  const std::string load = "Load (--rate or --concurrency; default --concurrency 1)";
  app.add_option("--rate", f.rate, "open loop: requests per second, whatever the server does")
      ->group(load);
  app.add_option("--arrivals", f.arrivals, "poisson or constant [poisson]")->group(load);
  app.add_option("--concurrency", f.concurrency, "closed loop: requests under way at any time")
      ->group(load);
  app.add_option("--duration", f.duration, "how long to measure [10s]")->group(load);
  app.add_option("--warmup", f.warmup, "the same load before that, not counted [1s]")->group(load);
  app.add_option("--timeout", f.timeout, "give a request up, from its intended start [30s]")
      ->group(load);
  app.add_option("--seed", f.seed, "of arrivals and inputs [1]")->group(load);
  app.add_option("--connections", f.connections,
                 "open loop: at most so many; when all are busy, waiting counts [1024]")
      ->group(load);
  app.add_option("--spin", f.spin, "auto, on or off: burn CPU just before each start [auto]")
      ->group(load);

  const std::string out = "Verdict and output";
  app.add_option("--slo", f.slo, "objective 'p99<30ms', or 30ms to count what is within it")
      ->group(out);
  app.add_option("--json", f.json, "FILE: everything, as JSON")->group(out);
  app.add_option("--html", f.html, "FILE: one page with plots, complete in itself")->group(out);
  app.add_flag("--quiet", f.quiet, "no progress line")->group(out);
}

Result<std::string> read_file(const std::string& flag, const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return bad(flag + ": cannot read '" + path + "'");
  return std::string(std::istreambuf_iterator<char>(file), {});
}

Result<std::vector<std::string>> read_bodies(const RawFlags& f) {
  std::vector<std::string> bodies;
  if (!f.body.empty() && !f.input.empty()) return bad("give --body or --input, not both");
  if (!f.body.empty()) {
    TAUTO_ASSIGN_OR_RETURN(auto body, read_file("--body", f.body));
    bodies.push_back(std::move(body));
  } else if (!f.input.empty()) {
    TAUTO_ASSIGN_OR_RETURN(const auto text, read_file("--input", f.input));
    for (std::size_t at = 0; at < text.size();) {
      const auto end = std::min(text.find('\n', at), text.size());
      auto line = text.substr(at, end - at);
      if (!line.empty() && line.back() == '\r') line.pop_back();
      if (!line.empty()) bodies.push_back(std::move(line));
      at = end + 1;
    }
    if (bodies.empty()) return bad("--input: '" + f.input + "' has no lines");
  }
  return bodies;
}

template <class T>
Result<T> named(const char* flag, Result<T> result) {
  if (!result.ok()) return bad(std::string(flag) + ": " + result.error().message);
  return result;
}

Status apply_target(const RawFlags& f, lab::BenchOptions& o) {
  const int targets = !f.model.empty() + !f.post.empty() + !f.get.empty();
  if (targets != 1) {
    return bad(targets == 0 ? "say what to load: --model NAME, --post URL or --get URL"
                            : "give one of --model, --post and --get");
  }
  using Kind = lab::BenchOptions::Kind;
  o.kind = !f.model.empty() ? Kind::kKserve : !f.post.empty() ? Kind::kPost : Kind::kGet;
  o.url = o.kind == Kind::kKserve ? f.url : o.kind == Kind::kPost ? f.post : f.get;
  TAUTO_RETURN_IF_ERROR(lab::parse_url(o.url));
  o.model = f.model;
  o.version = f.version;
  o.journey = !f.no_journey;
  TAUTO_ASSIGN_OR_RETURN(o.bodies, read_bodies(f));
  if (o.kind == Kind::kGet && !o.bodies.empty()) return bad("--get sends no body: use --post");
  for (const auto& header : f.headers) {
    const auto colon = header.find(':');
    if (colon == 0 || colon == std::string::npos ||
        header.find_first_of("\r\n") != std::string::npos) {
      return bad("--header: write 'Name: value', not '" + header + "'");
    }
    auto value = header.substr(colon + 1);
    value.erase(0, value.find_first_not_of(' '));
    o.headers.push_back({header.substr(0, colon), std::move(value)});
  }
  return Unit{};
}

Status apply_requests(const RawFlags& f, lab::BenchOptions& o) {
  if (f.binary && f.json_tensors) return bad("give --binary or --json-tensors, not both");
  o.kserve.binary = !f.json_tensors;
  for (const auto& text : f.shapes) {
    TAUTO_ASSIGN_OR_RETURN(auto shape, named("--shape", lab::parse_shape_flag(text)));
    o.kserve.shapes.push_back(std::move(shape));
  }
  if (!f.batch.empty()) {
    TAUTO_ASSIGN_OR_RETURN(const auto rows, named("--batch", parse_count(f.batch, 1, 1u << 20)));
    o.kserve.batch_rows = static_cast<std::uint32_t>(rows);
  }
  TAUTO_ASSIGN_OR_RETURN(const auto int_max,
                         named("--int-max", parse_count(f.int_max, 0, INT64_MAX)));
  o.kserve.int_max = static_cast<std::int64_t>(int_max);
  if (!f.deadline.empty()) {
    TAUTO_ASSIGN_OR_RETURN(o.kserve.deadline, named("--deadline", parse_duration(f.deadline)));
  }
  const bool random = o.kind == lab::BenchOptions::Kind::kKserve && o.bodies.empty();
  if (!random && (!f.shapes.empty() || !f.batch.empty() || f.json_tensors)) {
    return bad("--shape, --batch and --json-tensors are for random inputs of a --model");
  }
  if (o.kind != lab::BenchOptions::Kind::kKserve && !f.deadline.empty()) {
    return bad("--deadline is for --model; send a --header instead");
  }
  return Unit{};
}

Result<std::uint64_t> parse_rate(const std::string& text) {
  char* end = nullptr;
  const double rate = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || *end != '\0' || !(rate >= 0.001) || rate > 1e7) {
    return bad("--rate: '" + text + "' is not a number of requests per second");
  }
  return static_cast<std::uint64_t>(std::llround(rate * 1000));
}

Status apply_load(const RawFlags& f, lab::BenchOptions& o) {
  if (!f.rate.empty() && !f.concurrency.empty()) {
    return bad("give --rate (open loop) or --concurrency (closed loop), not both");
  }
  if (!f.rate.empty()) {
    TAUTO_ASSIGN_OR_RETURN(o.millirequests_per_second, parse_rate(f.rate));
  } else {
    TAUTO_ASSIGN_OR_RETURN(
        const auto n, named("--concurrency",
                            parse_count(f.concurrency.empty() ? "1" : f.concurrency, 1, 100'000)));
    o.concurrency = static_cast<std::uint32_t>(n);
  }
  const auto kind = arrival_kind_from_name(f.arrivals);
  if (!kind) return bad("--arrivals: poisson or constant, not '" + f.arrivals + "'");
  o.arrivals = *kind;
  TAUTO_ASSIGN_OR_RETURN(o.length, named("--duration", parse_duration(f.duration)));
  TAUTO_ASSIGN_OR_RETURN(o.warmup, named("--warmup", parse_duration(f.warmup)));
  TAUTO_ASSIGN_OR_RETURN(o.timeout, named("--timeout", parse_duration(f.timeout)));
  if (o.length <= Duration::zero()) return bad("--duration: must be longer than 0");
  if (o.timeout <= Duration::zero()) return bad("--timeout: must be longer than 0");
  if (to_s(o.length + o.warmup) > 7 * 24 * 3600.0) return bad("--duration: at most a week");
  TAUTO_ASSIGN_OR_RETURN(o.seed, named("--seed", parse_count(f.seed, 0, UINT64_MAX)));
  TAUTO_ASSIGN_OR_RETURN(const auto connections,
                         named("--connections", parse_count(f.connections, 1, 60'000)));
  o.connections_max = static_cast<std::uint32_t>(connections);
  if (f.spin == "on") {
    o.spin = lab::SpinMode::kOn;
  } else if (f.spin == "off") {
    o.spin = lab::SpinMode::kOff;
  } else if (f.spin != "auto") {
    return bad("--spin: auto, on or off, not '" + f.spin + "'");
  }
  if (!f.slo.empty()) {
    TAUTO_ASSIGN_OR_RETURN(o.objective, named("--slo", lab::parse_objective(f.slo)));
  }
  return Unit{};
}

}  // namespace

Result<std::variant<BenchCommand, HelpText>> parse_bench_flags(int argc, char** argv) {
  CLI::App app("Loads a server and says how fast it really is and where the time went.",
               "tauto bench");
  RawFlags flags;
  add_target_flags(app, flags);
  add_load_flags(app, flags);
  app.footer(kFooter);
  app.allow_extras();
  app.get_formatter()->column_width(24);
  app.get_formatter()->label("TEXT", "");
  for (auto* option : app.get_options()) option->option_text(" ");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return std::variant<BenchCommand, HelpText>(HelpText{app.help()});
  } catch (const CLI::ParseError& failure) {
    return bad(failure.what());
  }
  const auto extras = app.remaining();
  if (!extras.empty()) return unknown_flag(extras.front(), app);
  BenchCommand command;
  TAUTO_RETURN_IF_ERROR(apply_target(flags, command.options));
  TAUTO_RETURN_IF_ERROR(apply_requests(flags, command.options));
  TAUTO_RETURN_IF_ERROR(apply_load(flags, command.options));
  command.json_file = flags.json;
  command.html_file = flags.html;
  command.quiet = flags.quiet;
  return std::variant<BenchCommand, HelpText>(std::move(command));
}

}  // namespace tauto::app
