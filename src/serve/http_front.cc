#include "serve/http_front.h"

#include <algorithm>
#include <optional>

#include "serve/documents.h"
#include "serve/server.h"
#include "serve/status_map.h"

namespace tauto::serve {

using net::HttpExchange;
using net::Method;

/// What stands behind /v2/models/: a name, perhaps a version, and what is asked of it.
struct HttpFront::ModelPath {
  std::string name;
  std::string_view version;
  std::string_view verb;  // "" = metadata
};

namespace {

constexpr std::string_view kJson = "application/json";

/// "%2F" -> "/". nullopt for a broken escape.
std::optional<std::string> decode_percent(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    const auto digit = [](char c) -> int {
      if (c >= '0' && c <= '9') return c - '0';
      const char lower = static_cast<char>(c | 0x20);
      return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
    };
    if (i + 2 >= text.size()) return std::nullopt;
    const int high = digit(text[i + 1]);
    const int low = digit(text[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return out;
}

void reply_error(HttpExchange& exchange, unsigned status, std::string_view message) {
  write_error(exchange.text(), message);
  exchange.reply_text(status, kJson, exchange.text());
}

void reply_error(HttpExchange& exchange, const Error& error) {
  reply_error(exchange, http_status(error.code), error.message);
}

void reply_json(HttpExchange& exchange, std::string json) {
  exchange.text() = std::move(json);
  exchange.reply_text(200, kJson, exchange.text());
}

void reply_empty(HttpExchange& exchange, unsigned status) { exchange.reply_text(status, {}, {}); }

void reply_not_found(HttpExchange& exchange) { reply_error(exchange, 404, "Not Found"); }

/// False (and answered 405) unless the method is `wanted`, or HEAD where GET is.
bool method_is(HttpExchange& exchange, Method wanted) {
  const Method got = exchange.method();
  if (got == wanted || (wanted == Method::kGet && got == Method::kHead)) return true;
  exchange.extra_headers() += wanted == Method::kGet ? "Allow: GET, HEAD\r\n" : "Allow: POST\r\n";
  reply_error(exchange, 405, "Method Not Allowed");
  return false;
}

/// The body of a repository index request: whether only ready models are asked for; nullopt for
/// anything but nothing, {} and {"ready":true|false}.
std::optional<bool> only_ready(std::span<const std::byte> body) {
  std::string text;
  for (const std::byte b : body) {
    const char c = static_cast<char>(b);
    if (c != ' ' && c != '\t' && c != '\r' && c != '\n') text += c;
    if (text.size() > 32) return std::nullopt;
  }
  if (text == R"({"ready":true})") return true;
  if (text.empty() || text == "{}" || text == R"({"ready":false})") return false;
  return std::nullopt;
}

bool starts_with_any(std::string_view path, std::initializer_list<std::string_view> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [path](std::string_view p) { return path.starts_with(p); });
}

}  // namespace

HttpFront::HttpFront(const ServerOptions& options,
                     const std::vector<std::unique_ptr<LoopContext>>& loops,
                     const TimeSource& clock)
    : id_(options.id), strict_readiness_(options.strict_readiness) {
  for (const auto& loop : loops) infer_.push_back(std::make_unique<HttpInfer>(*loop, clock));
}

HttpFront::~HttpFront() = default;

void HttpFront::serve(const Catalog& catalog) {
  catalog_.store(&catalog, std::memory_order_release);
}

void HttpFront::leave() { leaving_.store(true, std::memory_order_release); }

void HttpFront::on_request(HttpExchange& exchange) {
  const std::string_view path = exchange.path();
  constexpr std::string_view kModels = "/v2/models/";
  if (path.starts_with(kModels)) return route_model(exchange, path.substr(kModels.size()));
  route_other(exchange, path);
}

void HttpFront::on_sent(HttpExchange& exchange, Instant at, bool ok) {
  if (HttpInfer::owns(exchange)) infer_[exchange.loop_index()]->sent(exchange, at, ok);
}

void HttpFront::on_client_gone(HttpExchange& exchange) {
  if (HttpInfer::owns(exchange)) infer_[exchange.loop_index()]->client_gone(exchange);
}

void HttpFront::route_model(HttpExchange& exchange, std::string_view rest) {
  ModelPath path;
  const auto take_segment = [&rest] {
    const auto slash = rest.find('/');
    const auto segment = rest.substr(0, slash);
    rest = slash == std::string_view::npos ? std::string_view{} : rest.substr(slash + 1);
    return segment;
  };
  auto name = decode_percent(take_segment());
  if (!name || name->empty()) return reply_not_found(exchange);
  path.name = std::move(*name);
  path.verb = take_segment();
  if (path.verb == "versions") {
    path.version = take_segment();
    const bool digits = std::all_of(path.version.begin(), path.version.end(),
                                    [](char c) { return c >= '0' && c <= '9'; });
    if (path.version.empty() || !digits) return reply_not_found(exchange);
    path.verb = take_segment();
  }
  const bool trace = path.verb == "trace" && rest == "setting";
  if ((!rest.empty() && !trace) || exchange.path().ends_with('/')) {
    return reply_not_found(exchange);
  }
  answer_model(exchange, path);
}

void HttpFront::answer_model(HttpExchange& exchange, const ModelPath& path) {
  const Catalog* catalog = catalog_.load(std::memory_order_acquire);
  if (path.name == "stats" && path.version.empty() && path.verb.empty()) {
    if (!method_is(exchange, Method::kGet)) return;
    if (catalog == nullptr) return reply_error(exchange, 503, "Server not ready");
    std::vector<const ModelHost*> all;
    for (const auto& host : catalog->hosts()) all.push_back(host.get());
    return reply_json(exchange, statistics_json(all));
  }
  if (starts_with_any(path.verb, {"generate", "trace"})) {
    return reply_error(exchange, 501, "'" + std::string(path.verb) + "' is not supported yet");
  }
  const bool infer = path.verb == "infer";
  const bool known = infer || path.verb.empty() || path.verb == "config" || path.verb == "stats" ||
                     path.verb == "ready" || path.verb == "journeys";
  if (!known) return reply_not_found(exchange);
  if (!method_is(exchange, infer ? Method::kPost : Method::kGet)) return;
  if (catalog == nullptr) return reply_error(exchange, 503, "Server not ready");
  if (path.verb == "ready") return answer_model_ready(exchange, path);
  if (path.verb == "stats") return answer_statistics(exchange, path);
  const auto host = catalog->find(path.name, path.version);
  if (!host.ok()) return reply_error(exchange, host.error());
  ModelHost& model = *host.value();
  if (infer) return infer_[exchange.loop_index()]->infer(model, exchange);
  if (path.verb == "config") return reply_json(exchange, model.loaded().config_json);
  if (path.verb == "journeys") return reply_json(exchange, journeys_json(model));
  reply_json(exchange, model_metadata_json(*catalog, model, !path.version.empty()));
}

void HttpFront::answer_model_ready(HttpExchange& exchange, const ModelPath& path) {
  const auto host = catalog_.load(std::memory_order_acquire)->find(path.name, path.version);
  if (!host.ok()) return reply_error(exchange, host.error());
  if (leaving_.load(std::memory_order_acquire)) return reply_error(exchange, 503, "Server exiting");
  reply_empty(exchange, 200);
}

void HttpFront::answer_statistics(HttpExchange& exchange, const ModelPath& path) {
  const Catalog& catalog = *catalog_.load(std::memory_order_acquire);
  std::vector<const ModelHost*> hosts;
  if (!path.version.empty()) {
    const auto host = catalog.find(path.name, path.version);
    if (host.ok()) hosts.push_back(host.value());
  } else {
    for (const auto& host : catalog.hosts()) {
      if (host->name() == path.name) hosts.push_back(host.get());
    }
  }
  if (hosts.empty()) {
    const bool other_versions = !catalog.ready_versions(path.name).empty();
    return reply_error(
        exchange, 400,
        other_versions ? "requested model version is not available for model '" + path.name + "'"
                       : "requested model '" + path.name + "' is not available");
  }
  reply_json(exchange, statistics_json(hosts));
}

void HttpFront::answer_ready(HttpExchange& exchange) {
  const Catalog* catalog = catalog_.load(std::memory_order_acquire);
  if (leaving_.load(std::memory_order_acquire)) return reply_error(exchange, 503, "Server exiting");
  if (catalog == nullptr) return reply_empty(exchange, 400);
  reply_empty(exchange, !strict_readiness_ || catalog->all_ready() ? 200 : 400);
}

void HttpFront::route_other(HttpExchange& exchange, std::string_view path) {
  if (path == "/v2/health/live") {
    if (method_is(exchange, Method::kGet)) reply_empty(exchange, 200);
  } else if (path == "/v2/health/ready") {
    if (method_is(exchange, Method::kGet)) answer_ready(exchange);
  } else if (path == "/v2") {
    if (method_is(exchange, Method::kGet)) reply_json(exchange, server_metadata_json(id_));
  } else if (path == "/v2/repository/index") {
    if (!method_is(exchange, Method::kPost)) return;
    const Catalog* catalog = catalog_.load(std::memory_order_acquire);
    if (catalog == nullptr) return reply_error(exchange, 503, "Server not ready");
    const auto ready = only_ready(exchange.body());
    if (!ready) return reply_error(exchange, 400, "the body must be {} or {\"ready\": true}");
    reply_json(exchange, repository_index_json(*catalog, *ready));
  } else if (starts_with_any(path, {"/v2/repository/", "/v2/trace", "/v2/logging",
                                    "/v2/systemsharedmemory", "/v2/cudasharedmemory"})) {
    reply_error(exchange, 501, "'" + std::string(path) + "' is not supported yet");
  } else {
    reply_not_found(exchange);
  }
}

}  // namespace tauto::serve
