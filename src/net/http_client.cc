#include "net/http_client.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <boost/beast/http/basic_parser.hpp>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <utility>

namespace tauto::net {
namespace {

namespace http = boost::beast::http;
using boost::beast::error_code;
using boost::beast::string_view;

constexpr std::uint32_t kHeadBytesMax = 64 * 1024;

}  // namespace

/// Beast's parser with our sinks. One object serves one message; it is rebuilt in place.
class HttpClient::Parser {
 public:
  class Message final : public http::basic_parser<false> {
   public:
    Message(ReplyHead& head, std::string* body) : head_(head), body_(body) {
      eager(true);
      header_limit(kHeadBytesMax);
      body_limit(boost::none);
    }

   private:
    void on_request_impl(http::verb, string_view, string_view, int, error_code&) override {}
    void on_response_impl(int status, string_view, int, error_code&) override {
      head_.status = status;
    }
    void on_field_impl(http::field name, string_view text, string_view value,
                       error_code&) override {
      if (name != http::field::unknown) return;
      if (boost::beast::iequals(text, "server-timing")) {
        if (!head_.server_timing.empty()) head_.server_timing += ", ";
        head_.server_timing.append(value.data(), value.size());
      } else if (boost::beast::iequals(text, "inference-header-content-length")) {
        std::from_chars(value.data(), value.data() + value.size(), head_.inference_header_bytes);
      }
    }
    void on_header_impl(error_code&) override {}
    void on_body_init_impl(boost::optional<std::uint64_t> const&, error_code&) override {}
    std::size_t on_body_impl(string_view part, error_code&) override {
      head_.body_bytes += part.size();
      if (body_ != nullptr) body_->append(part.data(), part.size());
      return part.size();
    }
    void on_chunk_header_impl(std::uint64_t, string_view, error_code&) override {}
    std::size_t on_chunk_body_impl(std::uint64_t, string_view part, error_code& ec) override {
      return on_body_impl(part, ec);
    }
    void on_finish_impl(error_code&) override {}

    ReplyHead& head_;
    std::string* body_;
  };

  std::optional<Message> message;
};

HttpClient::HttpClient() : parser_(std::make_unique<Parser>()) {}
HttpClient::~HttpClient() { close(); }

void HttpClient::close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
  state_ = State::kClosed;
  in_flight_ = false;
  carry_.clear();
}

ClientProgress HttpClient::connect(const Endpoint& endpoint) {
  TAUTO_CHECK(state_ == State::kClosed);
  fd_ = ::socket(endpoint.address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd_ < 0) return ClientProgress::kConnectFailed;
  const int on = 1;
  ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  state_ = State::kConnecting;
  const auto* address = reinterpret_cast<const sockaddr*>(&endpoint.address);
  if (::connect(fd_, address, endpoint.length) == 0) {
    state_ = State::kConnected;
    return ClientProgress::kAgain;
  }
  if (errno == EINPROGRESS || errno == EINTR) return ClientProgress::kAgain;
  const auto refused = errno == ECONNREFUSED;
  close();
  return refused ? ClientProgress::kConnectRefused : ClientProgress::kConnectFailed;
}

ClientProgress HttpClient::finish_connect() {
  pollfd writable{fd_, POLLOUT, 0};
  if (::poll(&writable, 1, 0) <= 0) return ClientProgress::kAgain;
  int failure = 0;
  socklen_t size = sizeof failure;
  ::getsockopt(fd_, SOL_SOCKET, SO_ERROR, &failure, &size);
  if (failure == 0) {
    state_ = State::kConnected;
    return ClientProgress::kAgain;
  }
  return failure == ECONNREFUSED ? ClientProgress::kConnectRefused : ClientProgress::kConnectFailed;
}

void HttpClient::start(std::span<const char> request) {
  TAUTO_CHECK(!in_flight_ && state_ != State::kClosed && !request.empty());
  request_ = request;
  sent_ = 0;
  in_flight_ = true;
  reply_started_ = false;
  carry_.clear();
  reply_.status = 0;
  reply_.keep_alive = false;
  reply_.server_timing.clear();
  reply_.body_bytes = 0;
  reply_.inference_header_bytes = 0;
  if (body_ != nullptr) body_->clear();
  parser_->message.emplace(reply_, body_);
}

ClientProgress HttpClient::advance(std::span<char> scratch) {
  if (state_ == State::kConnecting) {
    const auto progress = finish_connect();
    if (state_ != State::kConnected) return progress;
  }
  if (!wants_write()) return receive(scratch);
  const bool untouched = sent_ == 0;
  const auto sending = send_more();
  // Sent at one go: no reply can be here yet, and its first bytes will bring an edge.
  if (untouched && !wants_write()) return ClientProgress::kAgain;
  // A server may answer, and even close, before it has read everything: look for its reply.
  const auto receiving = receive(scratch);
  return receiving == ClientProgress::kAgain ? sending : receiving;
}

ClientProgress HttpClient::send_more() {
  while (sent_ < request_.size()) {
    const auto n = ::send(fd_, request_.data() + sent_, request_.size() - sent_, MSG_NOSIGNAL);
    if (n >= 0) {
      sent_ += static_cast<std::size_t>(n);
    } else if (errno != EINTR) {
      return errno == EAGAIN ? ClientProgress::kAgain : ClientProgress::kClosed;
    }
  }
  return ClientProgress::kAgain;
}

ClientProgress HttpClient::receive(std::span<char> scratch) {
  for (;;) {
    const auto n = ::recv(fd_, scratch.data(), scratch.size(), 0);
    if (n < 0) {
      if (errno == EINTR) continue;
      return errno == EAGAIN ? ClientProgress::kAgain : ClientProgress::kClosed;
    }
    if (n == 0) return end_of_stream();
    if (!in_flight_) return ClientProgress::kClosed;  // bytes nobody asked for
    reply_started_ = true;
    const auto progress = parse(scratch.first(static_cast<std::size_t>(n)));
    if (progress != ClientProgress::kAgain) return progress;
    // Not whole: read again even after a short read, or the end of the stream, which may have come
    // with the same edge, would go unseen.
  }
}

ClientProgress HttpClient::end_of_stream() {
  if (!in_flight_ || !reply_started_) return ClientProgress::kClosed;
  auto& message = *parser_->message;
  if (!message.is_header_done() || !message.need_eof()) return ClientProgress::kClosed;
  error_code failure;
  message.put_eof(failure);
  if (failure) return ClientProgress::kClosed;
  in_flight_ = false;
  reply_.keep_alive = false;
  return ClientProgress::kReply;
}

ClientProgress HttpClient::parse(std::span<const char> bytes) {
  std::size_t used = 0;
  if (carry_.empty()) {
    const auto progress = consume(bytes, used);
    if (progress == ClientProgress::kAgain && used < bytes.size()) {
      carry_.assign(bytes.data() + used, bytes.size() - used);
    }
    return progress;
  }
  carry_.append(bytes.data(), bytes.size());
  const auto progress = consume(carry_, used);
  carry_.erase(0, used);
  return progress;
}

/// Feeds the parser with whole pieces until it wants more or the reply is whole.
ClientProgress HttpClient::consume(std::span<const char> bytes, std::size_t& used) {
  while (used < bytes.size()) {
    auto& message = *parser_->message;
    error_code failure;
    used += message.put(boost::asio::buffer(bytes.data() + used, bytes.size() - used), failure);
    if (failure == http::error::need_more) return ClientProgress::kAgain;
    if (failure) return ClientProgress::kMalformed;
    if (!message.is_done()) continue;
    if (reply_.status < 200) {  // 100 Continue and its kin announce the real reply
      reply_.server_timing.clear();
      parser_->message.emplace(reply_, body_);
      continue;
    }
    in_flight_ = false;
    // Bytes after the reply, or a reply that came before the request was read, spoil the
    // connection.
    reply_.keep_alive = message.keep_alive() && used == bytes.size() && sent_ == request_.size();
    return ClientProgress::kReply;
  }
  return ClientProgress::kAgain;
}

Result<Endpoint> resolve_endpoint(const std::string& host, std::uint16_t port) {
  const std::string name = host + ":" + std::to_string(port);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  // "[::1]" is how a URL writes an IPv6 address.
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  const std::string bare = bracketed ? host.substr(1, host.size() - 2) : host;
  const int failure = ::getaddrinfo(bare.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (failure != 0) {
    return Error{Code::kUnavailable, "cannot resolve '" + host + "': " + ::gai_strerror(failure)};
  }
  Endpoint endpoint;
  endpoint.name = name;
  endpoint.length = found->ai_addrlen;
  std::memcpy(&endpoint.address, found->ai_addr, found->ai_addrlen);
  ::freeaddrinfo(found);
  return endpoint;
}

Result<HttpReply> exchange(const Endpoint& endpoint, std::string_view request, Duration timeout) {
  HttpClient client;
  HttpReply result;
  client.keep_body(&result.body);
  std::string scratch(64 * 1024, '\0');
  auto progress = client.connect(endpoint);
  if (progress == ClientProgress::kAgain) {
    client.start(request);
    progress = client.advance(scratch);
  }
  const int patience_ms = static_cast<int>(std::clamp<std::int64_t>(
      std::chrono::ceil<std::chrono::milliseconds>(timeout).count(), 1, 3'600'000));
  while (progress == ClientProgress::kAgain) {
    pollfd ready{client.fd(), POLLIN, 0};
    if (client.wants_write()) ready.events = POLLIN | POLLOUT;
    const int n = ::poll(&ready, 1, patience_ms);
    if (n == 0) return Error{Code::kDeadlineExceeded, "no answer from " + endpoint.name};
    if (n < 0 && errno != EINTR) break;
    progress = client.advance(scratch);
  }
  switch (progress) {
    case ClientProgress::kReply:
      result.head = client.reply();
      return result;
    case ClientProgress::kConnectRefused:
      return Error{Code::kUnavailable, "nobody listens at " + endpoint.name};
    case ClientProgress::kMalformed:
      return Error{Code::kUnavailable, endpoint.name + " does not answer in HTTP/1.1"};
    case ClientProgress::kClosed:
      return Error{Code::kUnavailable, endpoint.name + " closed the connection without an answer"};
    case ClientProgress::kConnectFailed:
    case ClientProgress::kAgain:
      break;
  }
  return Error{Code::kUnavailable, "cannot connect to " + endpoint.name};
}

}  // namespace tauto::net
