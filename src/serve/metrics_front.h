#pragma once
// Port 8002: Prometheus text, Triton's names beside our own.

#include <atomic>
#include <string>

#include "net/http_server.h"
#include "serve/catalog.h"

namespace tauto::serve {

/// The whole page. Threads: any.
std::string metrics_page(const Catalog& catalog);

class MetricsFront final : public net::HttpHandler {
 public:
  void serve(const Catalog& catalog) { catalog_.store(&catalog, std::memory_order_release); }

  void on_request(net::HttpExchange& exchange) override;
  void on_sent(net::HttpExchange&, Instant, bool) override {}
  void on_client_gone(net::HttpExchange&) override {}

 private:
  std::atomic<const Catalog*> catalog_{nullptr};
};

}  // namespace tauto::serve
