#include "net/http_server.h"

#include <arpa/inet.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "base/check.h"
#include "net/http_connection_impl.h"
#include "net/loop_impl.h"

namespace tauto::net {
namespace asio = boost::asio;
using boost::system::error_code;

namespace {

/// From now on the kernel drops what would open a connection: between the last accept and the
/// close of the listener nobody is greeted who would then be cut off. A client that tries again
/// finds the port closed.
void refuse_handshakes(int listener) {
  sock_filter drop_all{BPF_RET | BPF_K, 0, 0, 0};
  const sock_fprog program{1, &drop_all};
  ::setsockopt(listener, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program);
}

constexpr Duration kSweepMax = std::chrono::seconds(1);
constexpr Duration kSweepMin = std::chrono::milliseconds(1);
constexpr Duration kAcceptPause =
    std::chrono::milliseconds(50);        // after running out of descriptors
constexpr std::size_t kRefusedMax = 256;  // connections over the limit that still get their 503

/// Closes what it still owns.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(other.release()) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

union SocketAddress {
  sockaddr any;
  sockaddr_in v4;
  sockaddr_in6 v6;
};

std::optional<SocketAddress> parse_address(const HttpServerOptions& options) {
  SocketAddress address{};
  if (::inet_pton(AF_INET, options.address.c_str(), &address.v4.sin_addr) == 1) {
    address.v4.sin_family = AF_INET;
    address.v4.sin_port = htons(options.port);
    return address;
  }
  if (::inet_pton(AF_INET6, options.address.c_str(), &address.v6.sin6_addr) == 1) {
    address.v6.sin6_family = AF_INET6;
    address.v6.sin6_port = htons(options.port);
    return address;
  }
  return std::nullopt;
}

Error cannot_listen(const HttpServerOptions& options, int error) {
  const std::string where = "port " + std::to_string(options.port) + " of " + options.address;
  if (error == EADDRINUSE) return {Code::kUnavailable, where + " is taken by another process"};
  if (error == EACCES) return {Code::kUnavailable, where + " needs more rights than this user has"};
  if (error == EADDRNOTAVAIL) {
    return {Code::kInvalidArgument, options.address + " is no address of this machine"};
  }
  return {Code::kUnavailable, where + ": " + std::strerror(error)};
}

Result<Descriptor> open_listener(const HttpServerOptions& options, SocketAddress& address) {
  const bool v6 = address.any.sa_family == AF_INET6;
  Descriptor listener(
      ::socket(address.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP));
  if (listener.get() < 0) return cannot_listen(options, errno);
  const int on = 1;
  ::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  // Accepted sockets inherit it, which saves a system call for each.
  ::setsockopt(listener.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  socklen_t size = v6 ? sizeof address.v6 : sizeof address.v4;
  if (::bind(listener.get(), &address.any, size) != 0 || ::listen(listener.get(), SOMAXCONN) != 0 ||
      ::getsockname(listener.get(), &address.any, &size) != 0) {
    return cannot_listen(options, errno);
  }
  return listener;
}

}  // namespace

class HttpServer::Impl {
 public:
  Impl(const HttpServerOptions& options, std::span<Loop* const> loops, HttpHandler& handler,
       const SocketAddress& address, int listener);
  ~Impl();

  std::uint16_t port() const { return port_; }
  std::size_t open_connections() const { return open_count_.load(std::memory_order_relaxed); }
  void stop_accepting();
  void announce_close() { closing_.store(true, std::memory_order_relaxed); }
  void drain();

 private:
  struct Share {
    Share(Impl& impl, Loop& loop, std::size_t index);
    void adopt(int fd, bool refused);
    void sweep();
    void close_idle();

    Impl& impl;
    HttpShare http;
    Timer sweeper;
  };
  using Acceptor = asio::basic_socket_acceptor<asio::ip::tcp, asio::io_context::executor_type>;

  void wait_for_connections();
  void accept_all();

  const HttpLimits limits_;
  const std::string align_header_;
  const ReadLimits read_limits_;
  HttpHandler& handler_;
  const Duration sweep_every_;
  std::uint16_t port_;
  std::atomic<bool> closing_{false};
  std::atomic<std::size_t> open_count_{0};
  bool destroying_ = false;
  std::vector<std::unique_ptr<Share>> shares_;
  std::size_t next_share_ = 0;  // first loop only
  Acceptor acceptor_;           // first loop only
  Timer retry_;                 // first loop only
};

HttpServer::Impl::Share::Share(Impl& i, Loop& loop, std::size_t index)
    : impl(i),
      http{loop, index, i.handler_, i.limits_, i.read_limits_, i.closing_, i.open_count_, {}},
      sweeper(
          loop, [](void* self) { static_cast<Share*>(self)->sweep(); }, this) {}

void HttpServer::Impl::Share::adopt(int fd, bool refused) {
  if (impl.destroying_) {
    ::close(fd);
    impl.open_count_.fetch_sub(1, std::memory_order_relaxed);
    return;
  }
  if (http.connections.empty()) sweeper.arm(http.loop.now() + impl.sweep_every_);
  HttpConnection::start(http, fd, refused);
}

/// One coarse timer for all connections: a timer for each would cost more than many a request.
void HttpServer::Impl::Share::sweep() {
  const Instant now = http.loop.now();
  // From the end: a closed connection's place is taken by the last, which was already checked.
  for (std::size_t i = http.connections.size(); i-- > 0;) {
    if (i < http.connections.size()) http.connections[i]->check_time(now);
  }
  if (!http.connections.empty()) sweeper.arm(now + impl.sweep_every_);
}

void HttpServer::Impl::Share::close_idle() {
  for (std::size_t i = http.connections.size(); i-- > 0;) http.connections[i]->close_if_idle();
}

HttpServer::Impl::Impl(const HttpServerOptions& options, std::span<Loop* const> loops,
                       HttpHandler& handler, const SocketAddress& address, int listener)
    : limits_(options.limits),
      align_header_(options.body_align_header),
      read_limits_{limits_.header_bytes_max, limits_.body_bytes_max, align_header_},
      handler_(handler),
      sweep_every_(std::clamp(
          std::min({limits_.header_wait_max, limits_.progress_wait_max, limits_.idle_wait_max}) / 4,
          kSweepMin, kSweepMax)),
      port_(ntohs(address.any.sa_family == AF_INET6 ? address.v6.sin6_port : address.v4.sin_port)),
      acceptor_(loops.front()->impl().context),
      retry_(
          *loops.front(), [](void* self) { static_cast<Impl*>(self)->accept_all(); }, this) {
  for (std::size_t i = 0; i < loops.size(); ++i) {
    shares_.push_back(std::make_unique<Share>(*this, *loops[i], i));
  }
  error_code ignored;
  const auto family = address.any.sa_family == AF_INET6 ? asio::ip::tcp::v6() : asio::ip::tcp::v4();
  acceptor_.assign(family, listener, ignored);
  // Asio's objects are touched on their loop only.
  loops.front()->post([](void* self) { static_cast<Impl*>(self)->wait_for_connections(); }, this);
}

HttpServer::Impl::~Impl() {
  destroying_ = true;
  error_code ignored;
  acceptor_.close(ignored);
  for (const auto& share : shares_) {
    while (!share->http.connections.empty()) share->http.connections.back()->abort();
  }
  // What is still on its way (ended operations, sockets handed over) refers to this object.
  for (const auto& share : shares_) share->http.loop.run_ready();
}

void HttpServer::Impl::wait_for_connections() {
  if (!acceptor_.is_open()) return;
  acceptor_.async_wait(asio::socket_base::wait_read, [this](const error_code& error) {
    if (!error) accept_all();
  });
}

void HttpServer::Impl::accept_all() {
  while (acceptor_.is_open()) {
    const int fd =
        ::accept4(acceptor_.native_handle(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) {
      if (errno == EAGAIN || errno == EWOULDBLOCK) return wait_for_connections();
      if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) break;
      continue;  // that connection is gone already; the next may be well
    }
    const std::size_t open = open_count_.fetch_add(1, std::memory_order_relaxed);
    const bool refused = open >= limits_.connections_max;
    if (open >= limits_.connections_max + kRefusedMax) {
      ::close(fd);
      open_count_.fetch_sub(1, std::memory_order_relaxed);
      continue;
    }
    Share& share = *shares_[next_share_++ % shares_.size()];
    if (share.http.loop.in_loop_thread()) {
      share.adopt(fd, refused);
    } else {
      share.http.loop.post([&share, fd, refused] { share.adopt(fd, refused); });
    }
  }
  if (acceptor_.is_open()) retry_.arm(shares_.front()->http.loop.now() + kAcceptPause);
}

void HttpServer::Impl::stop_accepting() {
  shares_.front()->http.loop.post([this] {
    if (!acceptor_.is_open()) return;
    refuse_handshakes(acceptor_.native_handle());
    accept_all();  // those that the kernel has already greeted are served
    error_code ignored;
    acceptor_.close(ignored);
  });
}

void HttpServer::Impl::drain() {
  announce_close();
  for (const auto& share : shares_) {
    share->http.loop.post([](void* self) { static_cast<Share*>(self)->close_idle(); }, share.get());
  }
}

Result<std::unique_ptr<HttpServer>> HttpServer::listen(const HttpServerOptions& options,
                                                       std::span<Loop* const> loops,
                                                       HttpHandler& handler) {
  TAUTO_CHECK(!loops.empty() && options.limits.header_bytes_max >= 1024);
  std::optional<SocketAddress> address = parse_address(options);
  if (!address.has_value()) {
    return Error{Code::kInvalidArgument,
                 "'" + options.address + "' is not a numeric IPv4 or IPv6 address"};
  }
  TAUTO_ASSIGN_OR_RETURN(Descriptor listener, open_listener(options, *address));
  return std::unique_ptr<HttpServer>(new HttpServer(
      std::make_unique<Impl>(options, loops, handler, *address, listener.release())));
}

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() = default;
std::uint16_t HttpServer::port() const { return impl_->port(); }
void HttpServer::stop_accepting() { impl_->stop_accepting(); }
void HttpServer::announce_close() { impl_->announce_close(); }
void HttpServer::drain() { impl_->drain(); }
std::size_t HttpServer::open_connections() const { return impl_->open_connections(); }

}  // namespace tauto::net
