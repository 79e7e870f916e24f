#pragma once
// For tests only: an HTTP server on a raw socket that does as a script says, wrong things included,
// and writes down what it saw. Its thread's clock is the client's, so it can serve as an oracle.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/time.h"

namespace tauto::lab {

/// What to do with one request. Pieces are sent one after another, each `after` the one before it.
struct Act {
  struct Piece {
    std::string bytes;
    Duration after{};
  };
  std::vector<Piece> pieces;
  bool close = false;  // after the last piece
  bool reset = false;  // close so that the client sees a reset

  static Act reply(int status, std::string_view body, std::string_view headers = "");
  /// The same after some time.
  static Act reply_after(Duration delay, std::string_view body);
  static Act never() { return {}; }
  static Act hang_up() { return {{}, true, false}; }
};

struct SeenRequest {
  std::size_t number;         // over all connections, from 0
  std::size_t on_connection;  // the how-manieth of its connection, from 0
  std::string head;           // with the empty line
  std::string body;
  Instant at;
};

class ScriptedServer {
 public:
  using Script = std::function<Act(const SeenRequest&)>;

  /// Listens on a free port of 127.0.0.1 and serves until destroyed. `script` runs on its thread.
  explicit ScriptedServer(Script script);
  ~ScriptedServer();

  std::uint16_t port() const { return port_; }
  std::string url() const { return "127.0.0.1:" + std::to_string(port_); }
  std::vector<SeenRequest> seen() const;
  /// Blocks until `count` requests were seen (at most a minute); returns how many were.
  std::size_t wait_for_requests(std::size_t count) const;
  std::size_t connections() const { return connections_.load(); }
  /// The most requests that were unanswered at one moment.
  std::size_t unanswered_peak() const { return unanswered_peak_.load(); }

 private:
  struct Peer;
  void serve();
  void accept_all(std::vector<Peer>& peers);
  void read_from(Peer& peer);
  void take_requests(Peer& peer);
  void write_due(Peer& peer, Instant now);

  Script script_;
  int listener_ = -1;
  int stop_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<std::size_t> connections_{0};
  std::atomic<std::size_t> unanswered_peak_{0};
  std::size_t unanswered_ = 0;
  mutable std::mutex mutex_;
  mutable std::condition_variable arrived_;
  std::vector<SeenRequest> seen_;
  std::thread thread_;
};

}  // namespace tauto::lab
