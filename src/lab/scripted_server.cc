#include "lab/scripted_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <deque>

#include "base/check.h"
#include "net/monotonic.h"

namespace tauto::lab {
namespace {

Instant clock_now() { return net::MonotonicTime().now(); }

std::size_t content_length(const std::string& head) {
  const std::string name = "\r\nContent-Length: ";
  const auto at = head.find(name);
  return at == std::string::npos ? 0 : std::stoul(head.substr(at + name.size()));
}

}  // namespace

Act Act::reply(int status, std::string_view body, std::string_view headers) {
  Act act;
  std::string bytes = "HTTP/1.1 " + std::to_string(status) +
                      " Word\r\nContent-Length: " + std::to_string(body.size()) + "\r\n";
  bytes.append(headers).append("\r\n").append(body);
  act.pieces.push_back({std::move(bytes), Duration::zero()});
  return act;
}

Act Act::reply_after(Duration delay, std::string_view body) {
  Act act = reply(200, body);
  act.pieces.front().after = delay;
  return act;
}

/// One connection: what it sent, and what it is still to get.
struct ScriptedServer::Peer {
  struct Step {
    std::string bytes;
    Instant due;
    bool last = false;
    bool close = false;
    bool reset = false;
  };
  int fd = -1;
  std::string in;
  std::deque<Step> steps;
  std::size_t requests = 0;
  bool gone = false;
};

ScriptedServer::ScriptedServer(Script script) : script_(std::move(script)) {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  TAUTO_CHECK(::bind(listener_, generic, size) == 0 && ::listen(listener_, 1024) == 0);
  ::getsockname(listener_, generic, &size);
  port_ = ntohs(address.sin_port);
  stop_ = ::eventfd(0, EFD_CLOEXEC);
  thread_ = std::thread([this] { serve(); });
}

ScriptedServer::~ScriptedServer() {
  const std::uint64_t one = 1;
  TAUTO_CHECK(::write(stop_, &one, sizeof one) == sizeof one);
  thread_.join();
  ::close(stop_);
  ::close(listener_);
}

std::vector<SeenRequest> ScriptedServer::seen() const {
  const std::lock_guard lock(mutex_);
  return seen_;
}

std::size_t ScriptedServer::wait_for_requests(std::size_t count) const {
  std::unique_lock lock(mutex_);
  arrived_.wait_for(lock, std::chrono::minutes(1), [&] { return seen_.size() >= count; });
  return seen_.size();
}

void ScriptedServer::serve() {
  std::vector<Peer> peers;
  for (;;) {
    std::vector<pollfd> polled{{stop_, POLLIN, 0}, {listener_, POLLIN, 0}};
    auto wake = clock_now() + std::chrono::hours(1);
    for (const auto& peer : peers) {
      polled.push_back({peer.fd, POLLIN, 0});
      if (!peer.steps.empty()) wake = std::min(wake, peer.steps.front().due);
    }
    const auto left = std::max<std::int64_t>(0, to_ns(wake - clock_now()));
    const timespec timeout{left / 1'000'000'000, left % 1'000'000'000};
    ::ppoll(polled.data(), polled.size(), &timeout, nullptr);
    if (polled[0].revents != 0) break;
    for (std::size_t i = 0; i < peers.size(); ++i) {
      if (polled[i + 2].revents != 0) read_from(peers[i]);
      write_due(peers[i], clock_now());
    }
    std::erase_if(peers, [](const Peer& p) { return p.gone; });
    if (polled[1].revents != 0) accept_all(peers);
  }
  for (const auto& peer : peers) ::close(peer.fd);
}

void ScriptedServer::accept_all(std::vector<Peer>& peers) {
  for (;;) {
    const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) return;
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    peers.emplace_back();
    peers.back().fd = fd;
    connections_.fetch_add(1);
  }
}

void ScriptedServer::read_from(Peer& peer) {
  std::array<char, 65536> room;
  for (;;) {
    const auto n = ::recv(peer.fd, room.data(), room.size(), 0);
    if (n > 0) {
      peer.in.append(room.data(), static_cast<std::size_t>(n));
      continue;
    }
    if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
      take_requests(peer);  // what came before the end was still sent
      unanswered_ -= static_cast<std::size_t>(
          std::count_if(peer.steps.begin(), peer.steps.end(), [](auto& s) { return s.last; }));
      ::close(peer.fd);
      peer.gone = true;
      peer.steps.clear();
      return;
    }
    break;
  }
  take_requests(peer);
}

void ScriptedServer::take_requests(Peer& peer) {
  for (;;) {
    const auto end = peer.in.find("\r\n\r\n");
    if (end == std::string::npos) return;
    SeenRequest request;
    request.head = peer.in.substr(0, end + 4);
    const auto length = content_length(request.head);
    if (peer.in.size() < end + 4 + length) return;
    request.body = peer.in.substr(end + 4, length);
    peer.in.erase(0, end + 4 + length);
    request.on_connection = peer.requests++;
    request.at = clock_now();
    {
      const std::lock_guard lock(mutex_);
      request.number = seen_.size();
      seen_.push_back(request);
    }
    arrived_.notify_all();
    const auto act = script_(request);
    auto due = request.at;
    for (const auto& piece : act.pieces) {
      due += piece.after;
      peer.steps.push_back({piece.bytes, due});
    }
    if (act.close || act.reset) peer.steps.push_back({"", due, false, act.close, act.reset});
    if (act.pieces.empty()) continue;
    peer.steps[peer.steps.size() - (act.close || act.reset ? 2 : 1)].last = true;
    unanswered_peak_.store(std::max(unanswered_peak_.load(), ++unanswered_));
  }
}

void ScriptedServer::write_due(Peer& peer, Instant now) {
  while (!peer.steps.empty() && peer.steps.front().due <= now && !peer.gone) {
    const auto step = std::move(peer.steps.front());
    peer.steps.pop_front();
    std::size_t sent = 0;
    while (sent < step.bytes.size()) {  // replies here are small, or the reader is patient
      const auto n =
          ::send(peer.fd, step.bytes.data() + sent, step.bytes.size() - sent, MSG_NOSIGNAL);
      if (n > 0) {
        sent += static_cast<std::size_t>(n);
      } else if (errno == EAGAIN) {
        pollfd writable{peer.fd, POLLOUT, 0};
        ::poll(&writable, 1, -1);
      } else {
        break;
      }
    }
    if (step.last) --unanswered_;
    if (step.reset) {
      const linger hard{1, 0};
      ::setsockopt(peer.fd, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    }
    if (step.close || step.reset) {
      ::close(peer.fd);
      peer.gone = true;
    }
  }
}

}  // namespace tauto::lab
