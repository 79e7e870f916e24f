#include "lab/target.h"

#include <algorithm>

#include "base/text.h"

namespace tauto::lab {
namespace {

// Random inputs: enough different ones that no cache of answers helps, little enough to stay in
// memory and to be made quickly.
constexpr std::size_t kDistinctMax = 64;
constexpr std::size_t kDistinctBytesMax = 32u << 20;

std::string plain_request(const Target& target, std::string_view path) {
  HttpMessage message;
  message.method = "GET";
  message.path = path;
  message.host = target.endpoint.name;
  message.headers = {{"Connection", "close"}};
  return format_message(message);
}

Result<KserveModel> ask_for_model(const Target& target, const std::string& path,
                                  const BenchOptions& options) {
  TAUTO_ASSIGN_OR_RETURN(
      const auto metadata,
      net::exchange(target.endpoint, plain_request(target, path), options.timeout));
  if (metadata.head.status != 200) {
    return Error{Code::kNotFound, "the server at " + target.endpoint.name +
                                      " does not serve model '" + options.model +
                                      "': " + std::to_string(metadata.head.status) + " " +
                                      error_words(metadata.body)};
  }
  // Only Triton and its like have a config; without it the batch is as the metadata shows.
  const auto config =
      net::exchange(target.endpoint, plain_request(target, path + "/config"), options.timeout);
  const bool known = config.ok() && config.value().head.status == 200;
  return parse_kserve_model(metadata.body, known ? config.value().body : "");
}

/// The first request goes alone: what the server says about it is worth more than a run of errors.
Status try_first(const Target& target, Duration timeout) {
  TAUTO_ASSIGN_OR_RETURN(const auto reply,
                         net::exchange(target.endpoint, target.requests[0], timeout));
  const int status = reply.head.status;
  const bool load_dependent = status == 408 || status == 429 || status >= 500;
  if (status < 400 || load_dependent) return Unit{};
  return Error{Code::kUnavailable, "the server refuses the request: " + std::to_string(status) +
                                       " " + error_words(reply.body)};
}

HttpMessage infer_message(const Target& target, const std::string& path,
                          const BenchOptions& options) {
  HttpMessage message;
  message.method = "POST";
  message.path = path;
  message.host = target.endpoint.name;
  message.headers = options.headers;
  if (options.journey) message.headers.push_back({"tauto-journey", "1"});
  return message;
}

Status add_random(Target& target, const std::string& path, const KserveModel& model,
                  const BenchOptions& options) {
  TAUTO_ASSIGN_OR_RETURN(const auto inputs, concrete_inputs(model, options.kserve));
  if (model.batch_rows_max > 0 || options.kserve.batch_rows) {
    for (const auto& input : inputs) {
      if (input.dims.rank() > 0) {
        target.rows_per_request =
            static_cast<std::uint64_t>(std::max<std::int64_t>(1, input.dims[0]));
      }
    }
  }
  SplitMix64 random(options.seed);
  while (target.requests.size() < kDistinctMax && target.requests.bytes() < kDistinctBytesMax) {
    TAUTO_ASSIGN_OR_RETURN(const auto body, make_kserve_body(inputs, options.kserve, random));
    auto message = infer_message(target, path, options);
    if (body.json_bytes > 0) {
      message.headers.push_back(
          {"Inference-Header-Content-Length", std::to_string(body.json_bytes)});
      message.headers.push_back({"Content-Type", "application/octet-stream"});
    }
    message.body = body.bytes;
    target.requests.add(format_message(message));
  }
  return Unit{};
}

Status add_kserve(Target& target, const BenchOptions& options) {
  const std::string path = "/v2/models/" + options.model +
                           (options.version.empty() ? "" : "/versions/" + options.version);
  TAUTO_ASSIGN_OR_RETURN(const auto model, ask_for_model(target, path, options));
  target.description = "model " + options.model;
  if (options.bodies.empty()) {
    TAUTO_RETURN_IF_ERROR(add_random(target, path + "/infer", model, options));
    target.description += options.kserve.binary ? ", binary tensors" : ", JSON tensors";
    target.description += ", batch " + std::to_string(target.rows_per_request);
  } else {
    for (const auto& body : options.bodies) {
      std::string text = body;
      if (options.kserve.deadline) {
        TAUTO_ASSIGN_OR_RETURN(text, add_deadline(body, *options.kserve.deadline));
      }
      auto message = infer_message(target, path + "/infer", options);
      message.body = text;
      target.requests.add(format_message(message));
    }
    target.description += ", " + std::to_string(options.bodies.size()) + " recorded bodies";
  }
  if (options.kserve.deadline) {
    target.description += ", deadline " + format_duration(*options.kserve.deadline);
  }
  return try_first(target, options.timeout);
}

void add_plain(Target& target, const HttpUrl& url, const BenchOptions& options) {
  HttpMessage message;
  message.method = options.kind == BenchOptions::Kind::kPost ? "POST" : "GET";
  message.path = url.path;
  message.host = target.endpoint.name;
  message.headers = options.headers;
  target.description = std::string(message.method) + " " + url.path;
  if (options.bodies.empty()) target.requests.add(format_message(message));
  for (const auto& body : options.bodies) {
    message.body = body;
    target.requests.add(format_message(message));
  }
}

}  // namespace

Result<HttpUrl> parse_url(std::string_view text) {
  const Error refused{Code::kInvalidArgument, "'" + std::string(text) +
                                                  "' is not an address: write host:port or "
                                                  "http://host:port/path"};
  std::string_view rest = text;
  if (rest.starts_with("https://")) {
    return Error{Code::kInvalidArgument, "https is not supported yet: " + std::string(text)};
  }
  if (rest.starts_with("http://")) rest.remove_prefix(7);
  HttpUrl url;
  const auto slash = std::min(rest.find('/'), rest.size());
  if (slash < rest.size()) url.path = rest.substr(slash);
  auto authority = rest.substr(0, slash);
  const auto colon = authority.rfind(':');
  const auto bracket = authority.rfind(']');
  const bool has_port =
      colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket);
  if (has_port) {
    const auto port = parse_count(authority.substr(colon + 1), 1, 65'535);
    if (!port.ok()) return refused;
    url.port = static_cast<std::uint16_t>(port.value());
    authority = authority.substr(0, colon);
  }
  const auto unfit = [](char c) { return c <= ' ' || c == '/'; };
  if (authority.empty() || std::any_of(authority.begin(), authority.end(), unfit)) return refused;
  url.host = authority;
  return url;
}

Result<Target> make_target(const BenchOptions& options) {
  TAUTO_ASSIGN_OR_RETURN(const auto url, parse_url(options.url));
  Target target;
  TAUTO_ASSIGN_OR_RETURN(target.endpoint, net::resolve_endpoint(url.host, url.port));
  if (options.kind == BenchOptions::Kind::kKserve) {
    TAUTO_RETURN_IF_ERROR(add_kserve(target, options));
  } else {
    add_plain(target, url, options);
  }
  return target;
}

}  // namespace tauto::lab
