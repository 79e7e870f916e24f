#pragma once
// Port 8000: which path means what. Inference goes to http_infer, everything else is answered here.

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "net/http_server.h"
#include "serve/catalog.h"
#include "serve/http_infer.h"
#include "serve/loop_context.h"

namespace tauto::serve {

struct ServerOptions;

/// Threads: the HttpHandler calls on their loops; serve() and leave() by the owner.
class HttpFront final : public net::HttpHandler {
 public:
  HttpFront(const ServerOptions& options, const std::vector<std::unique_ptr<LoopContext>>& loops,
            const TimeSource& clock);
  ~HttpFront() override;

  /// Requests are taken from now on.
  void serve(const Catalog& catalog);
  /// Not ready any more; requests are still answered.
  void leave();

  void on_request(net::HttpExchange& exchange) override;
  void on_sent(net::HttpExchange& exchange, Instant at, bool ok) override;
  void on_client_gone(net::HttpExchange& exchange) override;

 private:
  struct ModelPath;

  void route_model(net::HttpExchange& exchange, std::string_view rest);
  void route_other(net::HttpExchange& exchange, std::string_view path);
  void answer_model(net::HttpExchange& exchange, const ModelPath& path);
  void answer_model_ready(net::HttpExchange& exchange, const ModelPath& path);
  void answer_statistics(net::HttpExchange& exchange, const ModelPath& path);
  void answer_ready(net::HttpExchange& exchange);

  const std::string id_;
  const bool strict_readiness_;
  std::vector<std::unique_ptr<HttpInfer>> infer_;  // by loop
  std::atomic<const Catalog*> catalog_{nullptr};
  std::atomic<bool> leaving_{false};
};

}  // namespace tauto::serve
