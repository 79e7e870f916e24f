#pragma once
// The running server: IO threads, front ends, models; from bound ports to the last answer.

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "net/http_server.h"
#include "net/loop.h"
#include "serve/catalog.h"
#include "serve/device_group.h"
#include "serve/loop_context.h"

namespace tauto::serve {

class HttpFront;
class MetricsFront;

struct ServerOptions {
  std::string id = "tautochrone";
  bool http = true;
  std::string http_address = "0.0.0.0";
  std::uint16_t http_port = 8000;
  bool metrics = true;
  std::string metrics_address = "0.0.0.0";
  std::uint16_t metrics_port = 8002;
  std::size_t io_threads = 1;
  net::HttpLimits http_limits;
  bool strict_readiness = true;  // ready only when every model is
};

/// Threads: the owner's, except ready(), which any may ask.
class Server {
 public:
  /// Binds the ports and starts the IO threads; everything but liveness answers 503 until serve().
  /// Errors: kUnavailable for a port that is taken, kInvalidArgument for a bad address.
  static Result<std::unique_ptr<Server>> start(const ServerOptions& options,
                                               const TimeSource& clock);
  /// Without shut_down() before, open requests are cut off.
  ~Server();

  /// Models are loaded and warm: requests are taken from now on. Once.
  void serve(std::vector<model::LoadOutcome> outcomes);
  /// Not ready at once; replies close their connections for `lame_duck`, new ones are still taken;
  /// then no more are, what is open is finished, for at most `drain_max`. Returns the requests that
  /// were left unanswered. Blocks.
  std::size_t shut_down(Duration lame_duck, Duration drain_max);
  /// Wakes a shut_down() that waits in its lame duck phase: go on at once. Any thread.
  void hurry();

  const Catalog& catalog() const { return catalog_; }
  std::uint16_t http_port() const { return http_ == nullptr ? 0 : http_->port(); }
  std::uint16_t metrics_port() const { return metrics_ == nullptr ? 0 : metrics_->port(); }

 private:
  Server(const ServerOptions& options, const TimeSource& clock);
  Status bind();
  /// Returns when no connection is open, hurry() was called or `wait_max` is over.
  void wait_for_last_requests(Duration wait_max);
  void stop();

  ServerOptions options_;
  const TimeSource& clock_;
  std::vector<std::unique_ptr<net::Loop>> loops_;  // one an IO thread, then that of metrics
  std::vector<std::unique_ptr<LoopContext>> contexts_;
  Catalog catalog_;
  std::unique_ptr<DeviceGroup> group_;
  std::unique_ptr<HttpFront> http_front_;
  std::unique_ptr<MetricsFront> metrics_front_;
  std::unique_ptr<net::HttpServer> http_;
  std::unique_ptr<net::HttpServer> metrics_;
  std::vector<std::jthread> threads_;
  Mutex mutex_;
  CondVar hurried_;  // or accepted_
  bool hurry_ TAUTO_GUARDED_BY(mutex_) = false;
  bool accepted_ TAUTO_GUARDED_BY(mutex_) = false;  // by the first loop, after the last accept
};

}  // namespace tauto::serve
