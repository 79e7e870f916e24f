#pragma once
// HTTP/1.1 server: accepts connections, spreads them over loops, reads whole requests and hands
// them to one handler. Keep-alive, pipelining, chunked bodies, limits and time limits; no TLS.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "net/http_exchange.h"
#include "net/loop.h"

namespace tauto::net {

struct HttpLimits {
  std::size_t body_bytes_max = std::size_t{64} << 20;    // above: 413 and close
  std::size_t header_bytes_max = std::size_t{64} << 10;  // above: 431 and close; >= 1024
  Duration header_wait_max =
      std::chrono::seconds(30);  // from the first byte to the end of the head: 408 and close
  Duration progress_wait_max =
      std::chrono::seconds(60);  // a body or a reply that stands still this long: closed
  Duration idle_wait_max = std::chrono::minutes(10);  // between requests: closed
  std::size_t connections_max = 4096;                 // above: 503 and close
};

struct HttpServerOptions {
  std::string address = "0.0.0.0";  // numeric IPv4 or IPv6
  std::uint16_t port = 0;           // 0: the system chooses, see port()
  HttpLimits limits;
  /// Name of a header whose decimal value is the offset in the body that should be 64-byte aligned
  /// ("Inference-Header-Content-Length": the tensors behind the JSON). "" aligns the body's start.
  std::string body_align_header;
};

/// Called on the loop thread of the exchange's connection; different loops call at the same time.
class HttpHandler {
 public:
  virtual ~HttpHandler() = default;
  /// The request is complete. Reply at once or later.
  virtual void on_request(HttpExchange& exchange) = 0;
  /// After every reply. ok: the kernel took the last byte at `at`; else the client went away.
  virtual void on_sent(HttpExchange& exchange, Instant at, bool ok) = 0;
  /// The client closed (or half-closed) before it was answered, or the server is being destroyed:
  /// the exchange is dead after this call. Not called from within on_request.
  virtual void on_client_gone(HttpExchange& exchange) = 0;
};

/// Destroy it after its loops' threads were joined and before the loops. Requests that were never
/// answered then get on_client_gone.
class HttpServer {
 public:
  /// Binds and listens at once; connections are accepted on the first loop and given out in turn.
  /// Errors: kInvalidArgument for a bad address, kUnavailable "port 8000 is taken on 0.0.0.0 ...".
  /// Requires: loops not empty; loops and handler outlive the server.
  static Result<std::unique_ptr<HttpServer>> listen(const HttpServerOptions& options,
                                                    std::span<Loop* const> loops,
                                                    HttpHandler& handler);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  std::uint16_t port() const;
  /// Any thread, as all below. New connections are refused by the kernel from now on.
  void stop_accepting();
  /// Replies carry `Connection: close` and close; idle connections stay open for their next
  /// request.
  void announce_close();
  /// announce_close(), and idle connections are closed now.
  void drain();
  std::size_t open_connections() const;

 private:
  class Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tauto::net
