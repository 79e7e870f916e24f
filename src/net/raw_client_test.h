#pragma once
// For tests: a client that sends exactly the bytes it is told to, and a server on threads of its
// own.

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "net/http_server.h"
#include "net/loop.h"
#include "net/monotonic.h"

namespace tauto::net {

struct RawReply {
  int status = 0;
  std::string head;
  std::string body;
};

/// A blocking socket; every wait ends after 20 s with a failed test.
class RawClient {
 public:
  explicit RawClient(std::uint16_t port, int receive_buffer = 0) {
    fd_ = ::socket(AF_INET, SOCK_STREAM, 0);
    const timeval wait{20, 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
    ::setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait);
    if (receive_buffer > 0) {
      ::setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    }
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;
  ~RawClient() { close(); }

  bool connected() const { return connected_; }
  void close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }
  /// Ends with a reset instead of an orderly close.
  void reset() {
    const linger hard{1, 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    close();
  }
  void end_sending() { ::shutdown(fd_, SHUT_WR); }

  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
  }
  /// One reply with its body; status 0 when the connection ended before one was complete.
  RawReply read(bool head_only = false) {
    std::size_t end;
    while ((end = pending_.find("\r\n\r\n")) == std::string::npos) {
      if (!receive()) return {};
    }
    RawReply reply;
    reply.head = pending_.substr(0, end + 4);
    pending_.erase(0, end + 4);
    std::sscanf(reply.head.c_str(), "HTTP/1.1 %d", &reply.status);
    const std::size_t at = reply.head.find("Content-Length: ");
    if (at == std::string::npos || head_only) return reply;
    const std::size_t length = std::strtoull(reply.head.c_str() + at + 16, nullptr, 10);
    while (pending_.size() < length) {
      if (!receive()) return {};
    }
    reply.body = pending_.substr(0, length);
    pending_.erase(0, length);
    return reply;
  }
  /// The server has closed, and nothing is left to read.
  bool at_end() { return pending_.empty() && !receive() && !timed_out_; }

 private:
  bool receive() {
    char buffer[65536];
    const ssize_t n = ::recv(fd_, buffer, sizeof buffer, 0);
    timed_out_ = n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
    EXPECT_FALSE(timed_out_) << "nothing came for 20 s";
    if (n > 0) pending_.append(buffer, static_cast<std::size_t>(n));
    return n > 0;
  }
  int fd_ = -1;
  bool connected_ = false;
  bool timed_out_ = false;
  std::string pending_;
};

/// Loops, each on its thread, with one server. `stop()` joins and destroys in the right order.
class RunningServer {
 public:
  RunningServer(HttpHandler& handler, HttpServerOptions options = {}, std::size_t loops = 1) {
    options.address = "127.0.0.1";
    std::vector<Loop*> pointers;
    for (std::size_t i = 0; i < loops; ++i) {
      loops_.push_back(std::make_unique<Loop>(time_));
      pointers.push_back(loops_.back().get());
    }
    auto server = HttpServer::listen(options, pointers, handler);
    if (!server.ok()) std::abort();
    server_ = std::move(server).value();
    for (const auto& loop : loops_) threads_.emplace_back([&loop] { loop->run(); });
  }
  ~RunningServer() { stop(); }
  void stop() {
    for (const auto& loop : loops_) loop->stop();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
    server_.reset();
    loops_.clear();
  }
  HttpServer& server() { return *server_; }
  Loop& loop(std::size_t i = 0) { return *loops_[i]; }
  std::uint16_t port() const { return server_->port(); }

 private:
  MonotonicTime time_;
  std::vector<std::unique_ptr<Loop>> loops_;
  std::unique_ptr<HttpServer> server_;
  std::vector<std::thread> threads_;
};

/// Waits until the other side has brought `ready` about.
class Signal {
 public:
  void change(const std::function<void()>& what) {
    const std::lock_guard lock(mutex_);
    what();
    changed_.notify_all();
  }
  [[nodiscard]] bool wait(const std::function<bool()>& ready) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(20), ready);
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
};

/// Waits for something that tells nobody when it happens; yields the processor meanwhile.
inline bool wait_until_true(const std::function<bool()>& ready) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!ready()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

}  // namespace tauto::net
