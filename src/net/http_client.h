#pragma once
// One HTTP/1.1 client connection that never blocks: the owner polls the socket and calls advance().
// No pipelining, no redirects, no re-sending: what happened is reported, the owner decides.

#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace tauto::net {

/// A resolved address, and how to name it in messages and Host headers.
struct Endpoint {
  sockaddr_storage address{};
  socklen_t length = 0;
  std::string name;  // "host:port" as asked
};

/// Blocks (name service). Errors: kUnavailable, naming host and reason.
Result<Endpoint> resolve_endpoint(const std::string& host, std::uint16_t port);

enum class ClientProgress : std::uint8_t {
  kAgain,           // nothing to report: wait for the socket
  kReply,           // a whole reply is here; connected and idle when reply().keep_alive
  kConnectRefused,  // nobody listens there
  kConnectFailed,   // any other reason not to get a connection
  kClosed,          // closed or reset before the reply was whole
  kMalformed,       // bytes that are not an HTTP/1.1 reply
};

struct ReplyHead {
  int status = 0;
  bool keep_alive = false;
  std::string server_timing;     // values of Server-Timing joined by ", "; "" when absent
  std::uint64_t body_bytes = 0;  // as transferred, without chunk framing
  std::uint64_t inference_header_bytes = 0;  // Inference-Header-Content-Length; 0 when absent
};

/// Threads: one at a time. After the first reply of a connection it allocates nothing.
class HttpClient {
 public:
  HttpClient();
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  /// Opens a socket and starts to connect. kAgain: under way (fd() is valid), poll for writing.
  ClientProgress connect(const Endpoint& endpoint);
  /// Hands over one request (borrowed until the reply is whole). It is sent when connected.
  /// Requires: no request under way. Call advance() next.
  void start(std::span<const char> request);
  /// Goes on as far as the socket allows: connect, send, receive, parse. Made for edge-triggered
  /// polling: it reads until the socket is drained. `scratch` is room for one read; a good size is
  /// 64 KiB, shared by all connections of a thread.
  ClientProgress advance(std::span<char> scratch);
  void close();

  int fd() const { return fd_; }
  bool connected() const { return state_ == State::kConnected; }
  /// True while a request under way waits for the connection or for room in the kernel.
  bool wants_write() const { return in_flight_ && sent_ < request_.size(); }
  /// True once the first byte of the request under way was accepted by the kernel.
  bool request_touched() const { return sent_ > 0; }
  /// True once any byte of the reply under way has come.
  bool reply_started() const { return reply_started_; }
  /// The latest reply; valid until the next start().
  const ReplyHead& reply() const { return reply_; }
  /// Where reply bodies go; nullptr (the default) counts and drops them. Cleared at start().
  void keep_body(std::string* body) { body_ = body; }

 private:
  class Parser;
  enum class State : std::uint8_t { kClosed, kConnecting, kConnected };

  ClientProgress finish_connect();
  ClientProgress send_more();
  ClientProgress receive(std::span<char> scratch);
  ClientProgress end_of_stream();
  ClientProgress parse(std::span<const char> bytes);
  ClientProgress consume(std::span<const char> bytes, std::size_t& used);

  int fd_ = -1;
  State state_ = State::kClosed;
  bool in_flight_ = false;
  bool reply_started_ = false;
  std::size_t sent_ = 0;
  std::span<const char> request_;
  std::string carry_;  // bytes of a head that was cut by a read
  ReplyHead reply_;
  std::string* body_ = nullptr;
  std::unique_ptr<Parser> parser_;
};

struct HttpReply {
  ReplyHead head;
  std::string body;
};

/// Sends one request on a connection of its own and waits for the reply; each wait on the socket is
/// bounded by `timeout`. For set-up, never on a hot path. Errors: kUnavailable, kDeadlineExceeded.
Result<HttpReply> exchange(const Endpoint& endpoint, std::string_view request, Duration timeout);

}  // namespace tauto::net
