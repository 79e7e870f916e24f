#include "lab/load_generator.h"

#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>

#include "lab/generator_impl.h"
#include "lab/sender_thread.h"

namespace tauto::lab {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kSpinNs = 100'000;
constexpr std::int64_t kSecondNs = 1'000'000'000;
// A closed loop against a dead server would do nothing but fail: each slot rests a little.
constexpr std::int64_t kPauseNs = 10'000'000;
constexpr int kConnectPatienceMs = 5'000;
constexpr std::uint64_t kStopTag = ~std::uint64_t{0};

Outcome outcome_of(ClientProgress progress, int status) {
  switch (progress) {
    case ClientProgress::kConnectRefused:
      return Outcome::kConnectRefused;
    case ClientProgress::kConnectFailed:
      return Outcome::kConnectFailed;
    case ClientProgress::kClosed:
      return Outcome::kClosed;
    case ClientProgress::kMalformed:
      return Outcome::kMalformed;
    case ClientProgress::kReply:
    case ClientProgress::kAgain:
      break;
  }
  return status >= 200 && status < 400 ? Outcome::kOk : Outcome::kStatus;
}

}  // namespace

Status Generator::prepare() {
  epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
  if (epoll_ < 0) return Error{Code::kInternal, "epoll is not available"};
  if (plan_.stop_fd >= 0) {
    epoll_event event{EPOLLIN, {.u64 = kStopTag}};
    ::epoll_ctl(epoll_, EPOLL_CTL_ADD, plan_.stop_fd, &event);
  }
  const auto early =
      closed_loop_ ? plan_.concurrency : std::min(plan_.connections_early, plan_.connections_max);
  std::vector<Connection*> ready;
  for (std::uint32_t i = 0; i < early; ++i) {
    auto& connection = *pool_.take();
    ready.push_back(&connection);
    auto progress = open(connection);
    if (progress == ClientProgress::kAgain && !connection.http.connected()) {
      pollfd writable{connection.http.fd(), POLLOUT, 0};
      ::poll(&writable, 1, kConnectPatienceMs);
      progress = connection.http.advance(scratch_);
    }
    if (connection.http.connected() && progress == ClientProgress::kAgain) continue;
    const bool refused = progress == ClientProgress::kConnectRefused;
    return Error{Code::kUnavailable, refused ? "nobody listens at " + endpoint_.name
                                             : "cannot connect to " + endpoint_.name};
  }
  for (auto* connection : ready) pool_.give(*connection);
  return Unit{};
}

ClientProgress Generator::open(Connection& connection) {
  const auto progress = connection.http.connect(endpoint_);
  if (progress != ClientProgress::kAgain) return progress;
  ++log_.connections_opened;
  connection.reused = false;
  const auto tag = std::uint64_t{++connection.generation} << 32 | connection.index;
  epoll_event event{EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, {.u64 = tag}};
  ::epoll_ctl(epoll_, EPOLL_CTL_ADD, connection.http.fd(), &event);
  return progress;
}

void Generator::close(Connection& connection) {
  connection.http.close();
  ++connection.generation;
}

LoadLog Generator::run(const std::function<void(const LoadProgress&)>& progress) {
  const ExactTimers exact_timers;
  const double cpu_before = thread_cpu_seconds();
  start_ns_ = to_ns(time_.now());
  end_ns_ = to_ns(plan_.length);
  tick_ns_ = progress ? kSecondNs : kNever;
  now();
  for (;;) {
    admit();
    expire();
    feed();
    if (!more_to_begin() && pool_.busy() == 0) break;
    wait_and_handle();
    if (latest_ns_ >= tick_ns_) report(progress);
  }
  log_.length = Duration{std::min(end_ns_, to_ns(plan_.length))};
  log_.started = instant_at_ns(start_ns_);
  log_.whole = Duration{now()};
  log_.cpu_seconds = thread_cpu_seconds() - cpu_before;
  return std::move(log_);
}

/// Counts the arrivals whose time has come.
void Generator::admit() {
  while (due_ < planned_ && to_ns(plan_.arrivals[due_]) <= latest_ns_) ++due_;
}

bool Generator::more_to_begin() const {
  return closed_loop_ ? latest_ns_ < end_ns_ : begun_ < planned_;
}

/// Gives due requests to free connections.
void Generator::feed() {
  if (closed_loop_) {
    while (!resting_.empty() && resting_.front().first <= latest_ns_) {
      pool_.give(*resting_.front().second);
      resting_.pop_front();
    }
    while (latest_ns_ < end_ns_) {
      auto* connection = pool_.take();
      if (connection == nullptr) break;
      begin(*connection, latest_ns_, 0);
    }
  } else {
    // Whoever finds no connection at its time waits, and all behind it wait too.
    while (begun_ < due_) {
      auto* connection = pool_.take();
      if (connection == nullptr) {
        starved_before_ = due_;
        break;
      }
      const std::uint8_t flags = begun_ < starved_before_ ? Sample::kCapped : 0;
      begin(*connection, to_ns(plan_.arrivals[begun_]), flags);
      now();
      admit();
    }
  }
  log_.under_way_peak =
      std::max(log_.under_way_peak, pool_.busy() + (closed_loop_ ? 0 : due_ - begun_));
}

void Generator::begin(Connection& connection, std::int64_t intended_ns, std::uint8_t flags) {
  ++begun_;
  connection.intended_ns = intended_ns;
  connection.flags = flags;
  connection.sent = false;
  connection.bytes = requests_.next();
  pool_.begin(connection);
  settle(connection, launch(connection));
}

/// Connects when there is no socket, and sends as much as goes.
ClientProgress Generator::launch(Connection& connection) {
  if (connection.http.fd() < 0) {
    connection.flags |= Sample::kNewConnection;
    const auto progress = open(connection);
    if (progress != ClientProgress::kAgain) return progress;
  }
  connection.http.start(connection.bytes);
  if (!connection.sent) connection.sent_ns = now();
  const auto progress = connection.http.advance(scratch_);
  connection.sent = connection.sent || connection.http.request_touched();
  return progress;
}

void Generator::on_event(Connection& connection, std::uint32_t events) {
  // The stamp is taken before the first byte leaves: the server may be faster than our clock.
  if (connection.busy && !connection.sent) connection.sent_ns = now();
  const auto progress = connection.http.advance(scratch_);
  connection.sent = connection.sent || connection.http.request_touched();
  settle(connection, progress);
  // A reply and the end of the stream in one event: no further event will tell.
  const bool ended = (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
  if (ended && !connection.busy && connection.http.fd() >= 0) drop_idle(connection);
}

void Generator::drop_idle(Connection& connection) {
  close(connection);
  pool_.drop_idle(connection);
}

void Generator::settle(Connection& connection, ClientProgress progress) {
  if (progress == ClientProgress::kAgain) return;
  if (!connection.busy) {
    drop_idle(connection);
    return;
  }
  const bool resend = progress == ClientProgress::kClosed && connection.reused &&
                      !connection.http.reply_started() && (connection.flags & Sample::kResent) == 0;
  if (resend) {
    close(connection);
    connection.flags |= Sample::kResent;
    settle(connection, launch(connection));
    return;
  }
  now();
  const bool reply = progress == ClientProgress::kReply;
  const auto outcome = outcome_of(progress, connection.http.reply().status);
  finish(connection, outcome);
  connection.reused = true;
  if (!reply || !connection.http.reply().keep_alive) close(connection);
  if (closed_loop_ && !reply) {
    resting_.emplace_back(latest_ns_ + kPauseNs, &connection);
  } else {
    pool_.give(connection);
  }
}

void Generator::finish(Connection& connection, Outcome outcome) {
  Sample sample{};
  sample.intended_ns = connection.intended_ns;
  sample.done_ns = latest_ns_;
  sample.sent_ns = connection.sent ? connection.sent_ns : latest_ns_;
  sample.stages = Sample::kNoStages;
  sample.outcome = outcome;
  sample.flags = connection.flags;
  if (!connection.sent) sample.flags |= Sample::kUnsent;
  if (outcome == Outcome::kOk || outcome == Outcome::kStatus) {
    const auto& reply = connection.http.reply();
    sample.status = static_cast<std::uint16_t>(reply.status);
    log_.bytes_received += reply.body_bytes;
    if (plan_.keep_stages && outcome == Outcome::kOk && !reply.server_timing.empty()) {
      sample.stages = log_.stages.add(reply.server_timing);
    }
  }
  pool_.end(connection);
  record(sample);
}

void Generator::record(const Sample& sample) {
  log_.samples.push_back(sample);
  ++(sample.outcome == Outcome::kOk ? ok_ : failed_);
}

/// Gives up requests that are too old, sent or not.
void Generator::expire() {
  const std::int64_t limit = latest_ns_ - to_ns(plan_.timeout);
  while (pool_.oldest() != nullptr && pool_.oldest()->intended_ns <= limit) {
    auto& connection = *pool_.oldest();
    finish(connection, Outcome::kTimeout);
    close(connection);
    pool_.give(connection);
  }
  if (closed_loop_) return;
  while (begun_ < due_ && to_ns(plan_.arrivals[begun_]) <= limit) {
    Sample sample{};
    sample.intended_ns = to_ns(plan_.arrivals[begun_++]);
    sample.sent_ns = sample.done_ns = latest_ns_;
    sample.stages = Sample::kNoStages;
    sample.outcome = Outcome::kTimeout;
    sample.flags = Sample::kUnsent | Sample::kCapped;
    record(sample);
  }
}

std::int64_t Generator::next_wake() const {
  std::int64_t wake = tick_ns_;
  if (due_ < planned_) {
    const auto arrival = to_ns(plan_.arrivals[due_]);
    wake = std::min(wake, plan_.spin ? arrival - kSpinNs : arrival);
  }
  if (closed_loop_ && latest_ns_ < end_ns_) wake = std::min(wake, end_ns_);
  const auto timeout = to_ns(plan_.timeout);
  if (pool_.oldest() != nullptr) wake = std::min(wake, pool_.oldest()->intended_ns + timeout);
  if (begun_ < due_) wake = std::min(wake, to_ns(plan_.arrivals[begun_]) + timeout);
  if (!resting_.empty()) wake = std::min(wake, resting_.front().first);
  return wake;
}

void Generator::wait_and_handle() {
  std::array<epoll_event, 64> events;
  const auto wake = next_wake();
  const auto left = wake == kNever ? kSecondNs : std::max<std::int64_t>(wake - now(), 0);
  const timespec timeout{left / kSecondNs, left % kSecondNs};
  const int n =
      ::epoll_pwait2(epoll_, events.data(), static_cast<int>(events.size()), &timeout, nullptr);
  now();
  for (int i = 0; i < n; ++i) {
    const auto& event = events[static_cast<std::size_t>(i)];
    const auto tag = event.data.u64;
    if (tag == kStopTag) {
      handle_stop();
      continue;
    }
    auto& connection = pool_.at(static_cast<std::uint32_t>(tag));
    if (connection.generation == static_cast<std::uint32_t>(tag >> 32))
      on_event(connection, event.events);
    // Between events too: a due request must not wait until a whole batch of replies is handled.
    admit();
    feed();
  }
}

void Generator::handle_stop() {
  std::array<char, 256> drop;  // a signalfd, an eventfd or a pipe
  if (::read(plan_.stop_fd, drop.data(), drop.size()) <= 0) return;
  ++stops_;
  if (stops_ == 1 && more_to_begin()) {
    log_.interrupted = true;
    end_ns_ = latest_ns_;
    planned_ = due_;
  } else {
    abort_all();
  }
}

void Generator::abort_all() {
  begun_ = due_;
  while (pool_.oldest() != nullptr) {
    auto& connection = *pool_.oldest();
    finish(connection, Outcome::kAborted);
    close(connection);
    pool_.give(connection);
  }
}

void Generator::report(const std::function<void(const LoadProgress&)>& progress) {
  tick_ns_ += kSecondNs * (1 + (latest_ns_ - tick_ns_) / kSecondNs);
  const std::uint64_t waiting = closed_loop_ ? 0 : due_ - begun_;
  progress(
      LoadProgress{Duration{latest_ns_}, begun_ + waiting, ok_, failed_, pool_.busy() + waiting});
}

Result<LoadLog> generate_load(const LoadPlan& plan, const net::Endpoint& endpoint,
                              RequestSet& requests, const TimeSource& time,
                              const std::function<void(const LoadProgress&)>& progress) {
  TAUTO_CHECK(requests.size() > 0 && plan.timeout > Duration::zero());
  Generator generator(plan, endpoint, requests, time);
  TAUTO_RETURN_IF_ERROR(generator.prepare());
  return generator.run(progress);
}

}  // namespace tauto::lab
