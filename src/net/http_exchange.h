#pragma once
// One HTTP request and its reply, as the handler sees them. Loop thread only.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "net/body_pool.h"
#include "net/loop.h"

namespace tauto::net {

enum class Method : std::uint8_t { kGet, kPost, kPut, kDelete, kHead, kOptions, kPatch, kOther };

struct HttpField {
  std::string_view name;  // as sent
  std::string_view value;
};

/// One request as it was read. Views point into the connection's input buffer.
struct HttpRequest {
  Method method = Method::kOther;
  std::string_view method_text;
  std::string_view target;
  std::vector<HttpField> fields;
  BodyHandle body;
};

struct Reply {
  unsigned status = 200;
  std::string_view reason = {};        // "" = the standard phrase
  std::string_view content_type = {};  // "" = no such header
  /// Sent in order without a copy; pieces and the list live until on_sent. For HEAD only their
  /// length is told.
  std::span<const std::span<const std::byte>> body = {};
  bool close = false;  // close the connection afterwards
};

/// Views live until on_sent or on_client_gone; then the object serves the connection's next
/// request.
class HttpExchange {
 public:
  Method method() const { return request_.method; }
  std::string_view method_text() const { return request_.method_text; }
  /// Origin form, "/path?query"; the absolute form's scheme and host are cut off.
  std::string_view target() const { return request_.target; }
  std::string_view path() const { return request_.target.substr(0, request_.target.find('?')); }
  std::string_view query() const {
    const std::size_t at = request_.target.find('?');
    return at == std::string_view::npos ? std::string_view{} : request_.target.substr(at + 1);
  }
  /// The first field of that name (any case), trimmed; "" when absent.
  std::string_view header(std::string_view name) const;
  std::span<const HttpField> fields() const { return request_.fields; }

  std::span<const std::byte> body() const { return request_.body.bytes(); }
  /// The body outlives the exchange: drop the handle on this loop's thread. body() is empty then.
  BodyHandle take_body() { return std::move(request_.body); }

  /// When the request's first bytes were read; after a pipelined predecessor: when its reply was
  /// sent.
  Instant first_byte() const { return first_byte_; }
  /// When its last byte was read; first_byte() <= last_byte().
  Instant last_byte() const { return last_byte_; }

  /// Room for the reply's text; empty at each request, keeps its capacity.
  std::string& text() { return text_; }
  /// "Name: value\r\n" lines that go into the reply's head; empty at each request.
  std::string& extra_headers() { return extra_headers_; }

  /// Once for each request, inside on_request or later on the loop thread, not after
  /// on_client_gone. Writes at once when the socket takes it: on_sent may run before it returns;
  /// the next request never does.
  virtual void reply(const Reply& reply) = 0;
  /// Reply with one piece; `body` lives until on_sent (text() does).
  void reply_text(unsigned status, std::string_view content_type, std::string_view body);

  Loop& loop() const { return loop_; }
  /// Position of loop() in the list given to HttpServer::listen.
  std::size_t loop_index() const { return loop_index_; }

  void* user = nullptr;  // the handler's; null at each request

 protected:
  HttpExchange(Loop& loop, std::size_t loop_index) : loop_(loop), loop_index_(loop_index) {}
  ~HttpExchange() = default;

  Loop& loop_;
  std::size_t loop_index_;
  HttpRequest request_;
  Instant first_byte_{};
  Instant last_byte_{};
  std::string text_;
  std::string extra_headers_;
  std::span<const std::byte> single_piece_;  // storage behind reply_text
};

}  // namespace tauto::net
