#pragma once
// The load generator's connections: which are idle, which carry a request, and since when.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "lab/sample.h"
#include "net/http_client.h"

namespace tauto::lab {

/// One connection and the request it carries.
struct Connection {
  explicit Connection(std::uint32_t its_index) : index(its_index) {}

  net::HttpClient http;
  std::uint32_t index;
  std::uint32_t generation = 0;  // of the socket: tells stale events from new ones
  bool busy = false;
  bool reused = false;  // a reply came on this socket before
  bool sent = false;
  std::uint8_t flags = 0;
  std::int64_t intended_ns = 0;
  std::int64_t sent_ns = 0;
  std::span<const char> bytes;
  Connection* older = nullptr;  // among the busy ones
  Connection* newer = nullptr;
};

/// Busy connections stand in the order in which their requests began, so the head is the one that
/// times out first. Every operation is O(1) but drop_idle.
class ConnectionPool {
 public:
  explicit ConnectionPool(std::uint32_t limit) : limit_(limit) {}

  /// A connection that carries nothing, connected ones first; nullptr when all are busy.
  Connection* take();
  /// Back from take(), or after its request ended.
  void give(Connection& connection);
  /// An idle connection lost its socket.
  void drop_idle(Connection& connection);

  void begin(Connection& connection);  // now busy: joins the tail
  void end(Connection& connection);
  Connection* oldest() const { return oldest_; }
  std::uint64_t busy() const { return busy_; }
  std::size_t size() const { return all_.size(); }
  Connection& at(std::uint32_t index) { return *all_[index]; }

 private:
  std::uint32_t limit_;
  std::vector<std::unique_ptr<Connection>> all_;
  std::vector<Connection*> idle_;    // connected; the last used is taken first
  std::vector<Connection*> closed_;  // without a socket
  Connection* oldest_ = nullptr;
  Connection* newest_ = nullptr;
  std::uint64_t busy_ = 0;
};

}  // namespace tauto::lab
