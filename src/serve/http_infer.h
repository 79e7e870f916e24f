#pragma once
// KServe v2 inference over HTTP: parses, admits, hands to the device group, answers. One object a
// loop, so that nothing here is shared between threads.

#include <deque>
#include <memory>
#include <string_view>
#include <vector>

#include "net/http_exchange.h"
#include "serve/loop_context.h"
#include "serve/model_host.h"
#include "serve/request.h"
#include "wire/infer_request.h"
#include "wire/infer_response.h"

namespace tauto::serve {

class HttpInfer final : public FrontEnd {
 public:
  HttpInfer(LoopContext& loop, const TimeSource& clock);
  ~HttpInfer() override;

  /// POST .../infer for `host`. Answers now or later. Loop thread, like all below.
  void infer(ModelHost& host, net::HttpExchange& exchange);
  void sent(net::HttpExchange& exchange, Instant at, bool ok);
  void client_gone(net::HttpExchange& exchange);
  /// Whether `exchange` carries an inference (its `user` is one of ours).
  static bool owns(const net::HttpExchange& exchange) { return exchange.user != nullptr; }

  void answer(Request& request) override;
  void release(Request& request) override;

 private:
  struct HttpRequest;

  HttpRequest& take(ModelHost& host, net::HttpExchange& exchange);
  Status understand(HttpRequest& request);
  void refuse(HttpRequest& request, const Error& error);
  void answer_served(HttpRequest& request);
  void answer_failed(HttpRequest& request);
  void finish_journey(HttpRequest& request);
  void end_reply(HttpRequest& request);
  void write_server_timing(HttpRequest& request);
  void record(HttpRequest& request);
  void offer_exemplar(const HttpRequest& request, const journey::Split& split);

  LoopContext& loop_;
  const TimeSource& clock_;
  wire::InferParser parser_;
  std::deque<HttpRequest> requests_;
  std::vector<HttpRequest*> free_;
};

}  // namespace tauto::serve
