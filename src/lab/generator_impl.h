#pragma once
// The load generator's loop; included by load_generator.cc only.

#include <unistd.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <utility>

#include "lab/connection_pool.h"
#include "lab/load_generator.h"

namespace tauto::lab {

using net::ClientProgress;

/// All times are nanoseconds since start_ns_. A turn of the loop: count what is due, give up what
/// is too old, hand due requests to free connections, wait, handle events.
class Generator {
 public:
  Generator(const LoadPlan& plan, const net::Endpoint& endpoint, RequestSet& requests,
            const TimeSource& time)
      : plan_(plan),
        endpoint_(endpoint),
        requests_(requests),
        time_(time),
        closed_loop_(plan.concurrency > 0),
        pool_(closed_loop_ ? plan.concurrency : plan.connections_max),
        scratch_(64 * 1024, '\0'),
        planned_(plan.arrivals.size()) {}
  ~Generator() {
    if (epoll_ >= 0) ::close(epoll_);
  }
  Generator(const Generator&) = delete;
  Generator& operator=(const Generator&) = delete;

  Status prepare();
  LoadLog run(const std::function<void(const LoadProgress&)>& progress);

 private:
  std::int64_t now() { return latest_ns_ = to_ns(time_.now()) - start_ns_; }
  std::int64_t next_wake() const;
  void wait_and_handle();
  void handle_stop();
  void admit();
  void feed();
  bool more_to_begin() const;
  void begin(Connection& connection, std::int64_t intended_ns, std::uint8_t flags);
  ClientProgress open(Connection& connection);
  ClientProgress launch(Connection& connection);
  void on_event(Connection& connection, std::uint32_t events);
  void settle(Connection& connection, ClientProgress progress);
  void drop_idle(Connection& connection);
  void finish(Connection& connection, Outcome outcome);
  void close(Connection& connection);
  void expire();
  void abort_all();
  void record(const Sample& sample);
  void report(const std::function<void(const LoadProgress&)>& progress);

  const LoadPlan& plan_;
  const net::Endpoint& endpoint_;
  RequestSet& requests_;
  const TimeSource& time_;
  const bool closed_loop_;
  ConnectionPool pool_;
  std::string scratch_;
  int epoll_ = -1;
  int stops_ = 0;
  std::int64_t start_ns_ = 0;
  std::int64_t latest_ns_ = 0;      // the clock as last read
  std::int64_t end_ns_ = 0;         // nothing begins from here on
  std::size_t planned_;             // open loop: arrivals that count; fewer once interrupted
  std::size_t due_ = 0;             // arrivals whose time has come
  std::size_t starved_before_ = 0;  // arrivals before this one waited for a connection
  std::size_t begun_ = 0;           // requests handed to a connection or given up
  std::deque<std::pair<std::int64_t, Connection*>> resting_;  // closed loop: slots and their wake
  std::int64_t tick_ns_ = 0;                                  // when progress is told next
  std::uint64_t ok_ = 0;
  std::uint64_t failed_ = 0;
  LoadLog log_;
};

}  // namespace tauto::lab
