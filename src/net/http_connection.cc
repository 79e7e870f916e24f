#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <cerrno>
#include <charconv>

#include "base/check.h"
#include "base/json_writer.h"
#include "net/http_connection_impl.h"
#include "net/http_text.h"

namespace tauto::net {
namespace asio = boost::asio;
using boost::system::error_code;

namespace {

constexpr Duration kLinger = std::chrono::seconds(2);
constexpr std::size_t kPiecesPerCall = 64;  // of sendmsg; the kernel's own limit is 1024
constexpr int kCallsPerTurn = 16;           // sendmsg calls before other connections get a turn

bool has_no_body(unsigned status) { return status < 200 || status == 204 || status == 304; }

void append_number(std::string& out, std::uint64_t number) {
  char digits[20];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

}  // namespace

/// Keeps the connection alive while an operation or a message knows it.
class HttpConnection::Ref {
 public:
  explicit Ref(HttpConnection* c) : connection_(c) { ++c->uses_; }
  Ref(Ref&& other) noexcept : connection_(std::exchange(other.connection_, nullptr)) {}
  Ref(const Ref&) = delete;
  Ref& operator=(const Ref&) = delete;
  ~Ref() {
    if (connection_ != nullptr && --connection_->uses_ == 0) delete connection_;
  }
  HttpConnection* operator->() const { return connection_; }

 private:
  HttpConnection* connection_;
};

struct HttpConnection::ReadHandler {
  using allocator_type = HandlerAllocator<void>;
  Ref connection;
  allocator_type get_allocator() const { return allocator_type(connection->loop_.impl().handlers); }
  void operator()(const error_code& error, std::size_t bytes) { connection->on_read(error, bytes); }
};

struct HttpConnection::WriteHandler {
  using allocator_type = HandlerAllocator<void>;
  Ref connection;
  allocator_type get_allocator() const { return allocator_type(connection->loop_.impl().handlers); }
  void operator()(const error_code& error) { connection->on_writable(error); }
};

HttpConnection::HttpConnection(HttpShare& share, int fd)
    : HttpExchange(share.loop, share.loop_index),
      share_(share),
      socket_(share.loop.impl().context, asio::ip::tcp::v4(), fd),
      reader_(share.loop.impl().bodies, share.read_limits, request_) {
  error_code ignored;
  socket_.native_non_blocking(true, ignored);
  head_.reserve(512);
  pieces_.reserve(8);
}

HttpConnection::~HttpConnection() = default;

void HttpConnection::start(HttpShare& share, int fd, bool refused) {
  auto* const connection = new HttpConnection(share, fd);
  const Ref ref(connection);
  connection->list_index_ = share.connections.size();
  share.connections.push_back(connection);
  connection->since_ = connection->first_byte_ = share.loop.now();
  if (refused) {
    connection->refuse({503, "too many connections"});
  } else {
    connection->start_read();
  }
}

void HttpConnection::start_read() {
  if (reading_ || peer_done_ || state_ == State::kClosed) return;
  const std::span<std::byte> room = reader_.space();
  if (room.empty()) return;  // the pipeline is full: goes on after the next request
  reading_ = true;
  socket_.async_read_some(asio::buffer(room.data(), room.size()), ReadHandler{Ref(this)});
}

void HttpConnection::on_read(const error_code& error, std::size_t bytes) {
  reading_ = false;
  if (state_ == State::kClosed) return;
  if (error == asio::error::operation_aborted && ending_) return close_unless_readable();
  if (error) return on_peer_closed();
  ending_ = false;
  const Instant now = loop_.now();
  const bool fresh = state_ == State::kReading && reader_.idle();
  if (fresh) first_byte_ = now;
  const RequestReader::Progress progress = reader_.commit(bytes);
  if (state_ == State::kReading) {
    since_ = now;
    serve(progress, now);
  }
  start_read();
}

/// Serves the request at hand and, while replies are made at once, those behind it.
void HttpConnection::serve(RequestReader::Progress progress, Instant now) {
  serving_ = true;
  while (progress == RequestReader::Progress::kComplete) {
    last_byte_ = now;
    state_ = State::kHandling;
    first_request_ = false;
    text_.clear();
    extra_headers_.clear();
    user = nullptr;
    share_.handler.on_request(*this);
    if (state_ != State::kReading) break;
    progress = reader_.next();
    now = since_;  // when the reply before it was sent
  }
  if (state_ == State::kReading) {
    if (progress == RequestReader::Progress::kRefused) {
      refuse(reader_.refusal());
    } else if (reader_.take_expectation()) {
      send_continue();
    }
  }
  serving_ = false;
}

void HttpConnection::on_peer_closed() {
  peer_done_ = true;
  switch (state_) {
    case State::kHandling:
      close();  // first: the handler must not answer any more
      return share_.handler.on_client_gone(*this);
    case State::kSending:
      close_after_ = true;  // it may have closed its sending side only
      return;
    default:
      return close();
  }
}

void HttpConnection::abort() {
  const Ref ref(this);
  if (state_ == State::kSending) return finish(false);
  on_peer_closed();
}

/// The read on its way may already hold a request that on_read() has not seen: so it is cancelled
/// and its end decides.
void HttpConnection::close_if_idle() {
  if (state_ != State::kReading || !reader_.idle()) return;
  ending_ = true;
  error_code ignored;
  socket_.cancel(ignored);
}

/// The read ended with nothing; a request that has arrived since is still served.
void HttpConnection::close_unless_readable() {
  ending_ = false;
  char byte;
  if (::recv(socket_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0) {
    reader_.commit(0);
    start_read();
  } else {
    close();
  }
}

void HttpConnection::check_time(Instant now) {
  const HttpLimits& limits = share_.limits;
  switch (state_) {
    case State::kReading:
      if (reader_.idle()) {
        if (now - since_ > (first_request_ ? limits.header_wait_max : limits.idle_wait_max))
          close();
      } else if (reader_.reading_body() ? now - since_ > limits.progress_wait_max
                                        : now - first_byte_ > limits.header_wait_max) {
        refuse({408, "the request did not arrive in time"});
      }
      return;
    case State::kSending:
      if (now - since_ > limits.progress_wait_max) finish(false);
      return;
    case State::kLingering:
      if (now - since_ > kLinger) close();
      return;
    case State::kHandling:
    case State::kClosed:
      return;
  }
}

void HttpConnection::refuse(const Refusal& refusal) {
  own_reply_ = true;
  state_ = State::kHandling;
  text_.clear();
  extra_headers_.clear();
  JsonWriter(text_).begin_object().field("error", refusal.message).end_object();
  reply_text(refusal.status, "application/json", text_);
}

void HttpConnection::send_continue() {
  constexpr std::string_view kText = "HTTP/1.1 100 Continue\r\n\r\n";
  // A full socket buffer here would be odd (the last reply is out); then the client waits its usual
  // second and sends the body anyway. Half a status line cannot be mended.
  const ssize_t sent = ::send(socket_.native_handle(), kText.data(), kText.size(), MSG_NOSIGNAL);
  if (sent > 0 && static_cast<std::size_t>(sent) < kText.size()) close();
}

void HttpConnection::reply(const Reply& reply) {
  TAUTO_CHECK(state_ == State::kHandling);
  const Ref ref(this);
  const bool keep = !own_reply_ && !reply.close && reader_.keep_alive() &&
                    !share_.closing.load(std::memory_order_relaxed);
  close_after_ = !keep;
  state_ = State::kSending;
  write_head(reply, keep);
  gather(reply);
  write();
}

void HttpConnection::write_head(const Reply& reply, bool keep) {
  head_.clear();
  if (reply.status == 200 && reply.reason.empty()) {
    head_ += "HTTP/1.1 200 OK\r\n";
  } else {
    head_ += "HTTP/1.1 ";
    append_number(head_, reply.status);
    head_ += ' ';
    head_ += reply.reason.empty() ? reason_phrase(reply.status) : reply.reason;
    head_ += "\r\n";
  }
  if (!reply.content_type.empty()) {
    head_ += "Content-Type: ";
    head_ += reply.content_type;
    head_ += "\r\n";
  }
  if (!has_no_body(reply.status)) {
    std::uint64_t length = 0;
    for (const std::span<const std::byte> piece : reply.body) length += piece.size();
    head_ += "Content-Length: ";
    append_number(head_, length);
    head_ += "\r\n";
  }
  head_ += extra_headers_;
  if (!keep) {
    head_ += "Connection: close\r\n";
  } else if (reader_.http_1_0()) {
    head_ += "Connection: keep-alive\r\n";
  }
  head_ += "\r\n";
}

void HttpConnection::gather(const Reply& reply) {
  pieces_.clear();
  pieces_sent_ = 0;
  pieces_.push_back({head_.data(), head_.size()});
  // A refused head has no method; its error is small and the connection ends anyway.
  if (has_no_body(reply.status) || (!own_reply_ && request_.method == Method::kHead)) return;
  for (const std::span<const std::byte> piece : reply.body) {
    if (piece.empty()) continue;
    pieces_.push_back({const_cast<std::byte*>(piece.data()), piece.size()});
  }
}

/// Writes what the socket takes; waits for it to become writable only when it is full.
void HttpConnection::write() {
  for (int calls = 0; calls < kCallsPerTurn; ++calls) {
    msghdr message{};
    message.msg_iov = pieces_.data() + pieces_sent_;
    message.msg_iovlen = std::min(pieces_.size() - pieces_sent_, kPiecesPerCall);
    const ssize_t sent = ::sendmsg(socket_.native_handle(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0) {
      if (errno == EINTR) continue;
      if (errno == EAGAIN || errno == EWOULDBLOCK) break;
      return finish(false);
    }
    auto left = static_cast<std::size_t>(sent);
    while (pieces_sent_ != pieces_.size() && left >= pieces_[pieces_sent_].iov_len) {
      left -= pieces_[pieces_sent_++].iov_len;
    }
    if (pieces_sent_ == pieces_.size()) return finish(true);
    iovec& piece = pieces_[pieces_sent_];
    piece.iov_base = static_cast<char*>(piece.iov_base) + left;
    piece.iov_len -= left;
  }
  since_ = loop_.now();
  socket_.async_wait(asio::socket_base::wait_write, WriteHandler{Ref(this)});
}

void HttpConnection::on_writable(const error_code& error) {
  if (state_ != State::kSending) return;  // closed meanwhile
  if (error) return finish(false);
  write();
}

/// The reply is out, or cannot go out any more.
void HttpConnection::finish(bool ok) {
  const Instant now = loop_.now();
  since_ = now;
  if (!own_reply_) share_.handler.on_sent(*this, now, ok);
  if (!ok) return close();
  if (close_after_) return linger(now);
  state_ = State::kReading;
  first_byte_ = now;
  if (serving_) return;
  if (reader_.has_more()) {
    // The handler is still inside its call of reply(): the next request must wait for its return.
    ++uses_;
    loop_.post([](void* self) { static_cast<HttpConnection*>(self)->resume(); }, this);
    return;
  }
  reader_.next();
  start_read();
}

void HttpConnection::resume() {
  const Ref ref(this);
  --uses_;
  if (state_ != State::kReading) return;
  serve(reader_.next(), since_);
  start_read();
}

/// Closing while the client still sends would reset the connection, and the client might lose the
/// reply: so the sending side ends first and the rest is read and dropped for a moment.
void HttpConnection::linger(Instant now) {
  if (peer_done_ || (!own_reply_ && !reader_.has_more())) return close();
  state_ = State::kLingering;
  since_ = now;
  reader_.abandon();
  error_code error;
  socket_.shutdown(asio::ip::tcp::socket::shutdown_send, error);
  if (error) return close();
  start_read();
}

void HttpConnection::close() {
  if (state_ == State::kClosed) return;
  const Ref ref(this);
  state_ = State::kClosed;
  share_.connections[list_index_] = share_.connections.back();
  share_.connections[list_index_]->list_index_ = list_index_;
  share_.connections.pop_back();
  --uses_;  // the list's; `ref` deletes the connection unless an operation is still to end
  error_code ignored;
  socket_.close(ignored);
  share_.open_count.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace tauto::net
