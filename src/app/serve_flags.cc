#include "app/serve_flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <string_view>

#include "app/flag_help.h"
#include "base/text.h"
#include "model/tauto_keys.h"

namespace tauto::app {
namespace {

/// A flag of Triton's that does nothing here and harms nobody by that.
constexpr std::array<std::string_view, 31> kAdvisory{"log-verbose",
                                                     "log-info",
                                                     "log-warning",
                                                     "log-error",
                                                     "log-format",
                                                     "log-file",
                                                     "allow-gpu-metrics",
                                                     "allow-cpu-metrics",
                                                     "metrics-interval-ms",
                                                     "pinned-memory-pool-byte-size",
                                                     "cuda-memory-pool-byte-size",
                                                     "cuda-virtual-address-size",
                                                     "min-supported-compute-capability",
                                                     "buffer-manager-thread-count",
                                                     "model-load-thread-count",
                                                     "model-load-retry-count",
                                                     "backend-directory",
                                                     "repoagent-directory",
                                                     "cache-directory",
                                                     "grpc-infer-thread-count",
                                                     "grpc-infer-allocation-pool-size",
                                                     "grpc-infer-response-compression-level",
                                                     "grpc-keepalive-time",
                                                     "grpc-keepalive-timeout",
                                                     "grpc-max-connection-age",
                                                     "grpc-max-connection-age-grace",
                                                     "grpc-address",
                                                     "grpc-port",
                                                     "grpc-root-cert",
                                                     "host-policy",
                                                     "enable-peer-access"};

/// A flag of Triton's whose absence would change answers, access or what is served.
constexpr std::array<std::string_view, 17> kRefused{"load-model",
                                                    "repository-poll-secs",
                                                    "model-config-name",
                                                    "trace-config",
                                                    "cache-config",
                                                    "response-cache-byte-size",
                                                    "rate-limit",
                                                    "rate-limit-resource",
                                                    "http-restricted-api",
                                                    "grpc-restricted-protocol",
                                                    "http-header-forward-pattern",
                                                    "grpc-header-forward-pattern",
                                                    "reuse-http-port",
                                                    "reuse-grpc-port",
                                                    "grpc-use-ssl",
                                                    "grpc-use-ssl-mutual",
                                                    "metrics-config"};

struct Texts {
  std::vector<std::string> words;  // paths without a flag
  std::string http_port = "8000";
  std::string metrics_port = "8002";
  std::string metrics_address;
  std::string http_threads;
  std::string input_max = "64MiB";
  std::string lame_duck = "5s";
  std::string exit_timeout;
  std::string exit_timeout_secs = "30";
  std::string warm_budget = "3s";
  std::string policy;
  std::string control_mode = "none";
  std::vector<std::string> backend_config;
  bool allow_grpc = false;
  bool namespacing = false;
  bool strict_config = false;
  bool disable_auto_complete = false;
};

void add_flags(CLI::App& cli, ServeFlags& flags, Texts& texts) {
  auto& server = flags.server;
  const auto group = [&cli](const char* name) {
    return [&cli, name](CLI::Option* option) { option->group(name); };
  };
  const auto models = group("Models");
  models(cli.add_option("path", texts.words, "Repository, or one .onnx file"));
  models(cli.add_option("--model-repository,--model-store", flags.paths,
                        "Repository in Triton's layout; repeatable"));
  models(cli.add_option(
      "--policy", texts.policy,
      "direct, eager, fixed or triton for every model; default: what its config says"));
  models(cli.add_option("--warm-budget", texts.warm_budget, "Time to warm up one model (3s)"));
  models(cli.add_option("--onnxruntime-library", flags.onnxruntime_library,
                        "libonnxruntime.so to open; default: the usual places"));
  models(cli.add_option("--exit-on-error", flags.exit_on_error,
                        "true: end when a model cannot be loaded (false)"));
  models(cli.add_flag("--disable-auto-complete-config", texts.disable_auto_complete,
                      "Inputs and outputs must stand in every config"));
  models(cli.add_option("--strict-model-config", texts.strict_config, "The same, older name"));
  models(cli.add_option("--model-control-mode", texts.control_mode, "none; others come later"));
  models(cli.add_option("--model-namespacing", texts.namespacing, "false; true comes later"));
  models(cli.add_option("--backend-config", texts.backend_config,
                        "onnxruntime,default-max-batch-size=N; repeatable"));
  const auto net = group("Network");
  net(cli.add_option("--allow-http", server.http, "Serve HTTP (true)"));
  net(cli.add_option("--http-address", server.http_address, "Address of HTTP (0.0.0.0)"));
  net(cli.add_option("--http-port", texts.http_port, "Port of HTTP (8000); 0: any free one"));
  net(cli.add_option("--http-thread-count", texts.http_threads,
                     "IO threads; default: a quarter of the CPUs, at least 1"));
  net(cli.add_option("--http-max-input-size", texts.input_max, "Largest body (64MiB)"));
  net(cli.add_option("--allow-metrics", server.metrics, "Serve /metrics (true)"));
  net(cli.add_option("--metrics-address", texts.metrics_address, "Address of metrics (as HTTP)"));
  net(cli.add_option("--metrics-port", texts.metrics_port, "Port of metrics (8002); 0: any"));
  net(cli.add_option("--allow-grpc", texts.allow_grpc, "false; gRPC comes with the next version"));
  net(cli.add_option("--port-file", flags.port_file, "Written when ready: the ports, a line each"));
  const auto life = group("Life");
  life(cli.add_option("--id", server.id, "Name in the server metadata (tautochrone)"));
  life(cli.add_option("--strict-readiness", server.strict_readiness,
                      "Ready only when every model is (true)"));
  life(cli.add_option("--lame-duck", texts.lame_duck,
                      "After SIGTERM: not ready, but answering, for so long (5s)"));
  life(
      cli.add_option("--exit-timeout", texts.exit_timeout, "Longest wait for open requests (30s)"));
  life(cli.add_option("--exit-timeout-secs", texts.exit_timeout_secs, "The same in bare seconds"));
}

Result<std::uint16_t> parse_port(std::string_view text) {
  TAUTO_ASSIGN_OR_RETURN(const auto port, parse_count(text, 0, 65535));
  return static_cast<std::uint16_t>(port);
}

/// Runs `parse` on `text` into `value`, which `parse` has bounded; an error is told with the flag's
/// name in front.
template <class T, class Parse>
Status read(std::string_view flag, std::string_view text, Parse parse, T& value) {
  auto parsed = parse(text);
  if (!parsed.ok()) {
    return Error{Code::kInvalidArgument, "--" + std::string(flag) + ": " + parsed.error().message};
  }
  value = static_cast<T>(parsed.value());
  return Unit{};
}

Status read_backend_config(const std::vector<std::string>& entries, ServeFlags& flags) {
  constexpr std::string_view kMaxBatch = "default-max-batch-size=";
  for (const auto& entry : entries) {
    const auto comma = entry.find(',');
    const std::string_view setting =
        comma == std::string::npos ? std::string_view{} : std::string_view(entry).substr(comma + 1);
    if (!setting.starts_with(kMaxBatch)) {
      return Error{Code::kInvalidArgument,
                   "--backend-config=" + entry +
                       " is not supported: only BACKEND,default-max-batch-size=N is"};
    }
    TAUTO_RETURN_IF_ERROR(read(
        "backend-config", setting.substr(kMaxBatch.size()),
        [](std::string_view t) { return parse_count(t, 0, 1 << 20); }, flags.rows_max_default));
  }
  return Unit{};
}

Status read_texts(const Texts& texts, ServeFlags& flags) {
  auto& server = flags.server;
  TAUTO_RETURN_IF_ERROR(read("http-port", texts.http_port, parse_port, server.http_port));
  TAUTO_RETURN_IF_ERROR(read("metrics-port", texts.metrics_port, parse_port, server.metrics_port));
  server.metrics_address =
      texts.metrics_address.empty() ? server.http_address : texts.metrics_address;
  const auto threads = [](std::string_view t) { return parse_count(t, 1, 256); };
  if (!texts.http_threads.empty()) {
    TAUTO_RETURN_IF_ERROR(read("http-thread-count", texts.http_threads, threads, flags.io_threads));
  }
  TAUTO_RETURN_IF_ERROR(
      read("http-max-input-size", texts.input_max, parse_bytes, server.http_limits.body_bytes_max));
  TAUTO_RETURN_IF_ERROR(read("lame-duck", texts.lame_duck, parse_duration, flags.lame_duck));
  TAUTO_RETURN_IF_ERROR(read("warm-budget", texts.warm_budget, parse_duration, flags.warm_budget));
  std::uint64_t seconds = 0;
  TAUTO_RETURN_IF_ERROR(read(
      "exit-timeout-secs", texts.exit_timeout_secs,
      [](std::string_view t) { return parse_count(t, 0, 86400); }, seconds));
  flags.exit_timeout = std::chrono::seconds(seconds);
  if (!texts.exit_timeout.empty()) {
    TAUTO_RETURN_IF_ERROR(
        read("exit-timeout", texts.exit_timeout, parse_duration, flags.exit_timeout));
  }
  if (!texts.policy.empty()) {
    TAUTO_RETURN_IF_ERROR(read("policy", texts.policy, model::policy_from_name, flags.policy));
  }
  flags.auto_complete = !texts.disable_auto_complete && !texts.strict_config;
  if (texts.control_mode != "none") {
    return Error{Code::kUnimplemented, "--model-control-mode=" + texts.control_mode +
                                           " is not supported yet: only none is"};
  }
  if (texts.namespacing) {
    return Error{Code::kUnimplemented, "--model-namespacing=true is not supported yet"};
  }
  if (texts.allow_grpc) {
    return Error{Code::kUnimplemented,
                 "--allow-grpc=true is not supported yet: leave it out to serve HTTP alone"};
  }
  return read_backend_config(texts.backend_config, flags);
}

template <class List>
bool has(const List& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

/// The arguments, last first as CLI11 wants them, without the flags of Triton's that change
/// nothing: CLI11 would take a value that stands apart from such a flag for a path.
std::vector<std::string> without_advisory(int argc, char** argv, ServeFlags& flags) {
  std::vector<std::string> kept;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const std::string name = flag_name(word);
    if (!word.starts_with("--") || !has(kAdvisory, name)) {
      kept.emplace_back(word);
      continue;
    }
    flags.notes.push_back("--" + name + " has no effect here");
    const bool apart = word.find('=') == std::string_view::npos;
    if (apart && i + 1 < argc && !std::string_view(argv[i + 1]).starts_with("-")) ++i;
  }
  std::reverse(kept.begin(), kept.end());
  return kept;
}

/// The flags CLI11 did not know: Triton's that we refuse, or a slip of the finger.
Status read_extras(const std::vector<std::string>& extras, const CLI::App& cli) {
  if (extras.empty()) return Unit{};
  const std::string& word = extras.front();
  const std::string name = flag_name(word);
  if (!has(kRefused, name)) return unknown_flag(word, cli);
  return Error{Code::kUnimplemented, "--" + name + " is not supported yet: leave it out"};
}

}  // namespace

ParsedServe parse_serve_flags(int argc, char** argv) {
  ParsedServe parsed;
  Texts texts;
  CLI::App cli("Serves models over KServe v2 (HTTP), with Triton's repository, config and flags.",
               "tauto serve");
  cli.allow_extras();
  cli.footer(
      "Examples:\n"
      "  tauto serve --model-repository models\n"
      "  tauto serve model.onnx --http-port 9000\n"
      "Triton's other flags are taken with a note where they change nothing, and refused where\n"
      "ignoring them would change answers or access.");
  add_flags(cli, parsed.flags, texts);
  try {
    cli.parse(without_advisory(argc, argv, parsed.flags));
  } catch (const CLI::CallForHelp&) {
    parsed.stop = Stop{0, cli.help()};
    return parsed;
  } catch (const CLI::Error& e) {
    parsed.stop = Stop{2, std::string("tauto serve: ") + e.what() + "\n"};
    return parsed;
  }
  auto& paths = parsed.flags.paths;
  paths.insert(paths.end(), texts.words.begin(), texts.words.end());
  Status status = read_extras(cli.remaining(), cli);
  if (status.ok()) status = read_texts(texts, parsed.flags);
  if (status.ok() && parsed.flags.paths.empty()) {
    status = Error{Code::kInvalidArgument,
                   "no models: give a repository (--model-repository DIR) or a model.onnx"};
  }
  if (!status.ok()) parsed.stop = Stop{2, "tauto serve: " + status.error().message + "\n"};
  return parsed;
}

}  // namespace tauto::app
