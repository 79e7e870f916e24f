#include "serve/server.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>

#include "serve/http_front.h"
#include "serve/metrics_front.h"

namespace tauto::serve {
namespace {

/// How often an ending server looks whether the last request has been answered.
constexpr auto kDrainPoll = std::chrono::milliseconds(2);
/// A connection that was taken last has yet to bring its first request: so long it may take.
constexpr Duration kLastRequestWait = std::chrono::seconds(1);

std::chrono::steady_clock::time_point steady(Instant t) {
  return std::chrono::steady_clock::time_point{t.time_since_epoch()};
}

}  // namespace

Server::Server(const ServerOptions& options, const TimeSource& clock)
    : options_(options), clock_(clock), catalog_(options.io_threads, clock) {
  for (std::size_t i = 0; i < options.io_threads; ++i) {
    loops_.push_back(std::make_unique<net::Loop>(clock));
    contexts_.push_back(std::make_unique<LoopContext>(*loops_.back(), i));
  }
  // A page of metrics takes a millisecond to write: no request should wait for it.
  loops_.push_back(std::make_unique<net::Loop>(clock));
  group_ = std::make_unique<DeviceGroup>(clock);
  http_front_ = std::make_unique<HttpFront>(options_, contexts_, clock);
  metrics_front_ = std::make_unique<MetricsFront>();
}

Result<std::unique_ptr<Server>> Server::start(const ServerOptions& options,
                                              const TimeSource& clock) {
  TAUTO_CHECK(options.io_threads >= 1);
  std::unique_ptr<Server> server(new Server(options, clock));
  TAUTO_RETURN_IF_ERROR(server->bind());
  for (std::size_t i = 0; i < server->loops_.size(); ++i) {
    server->threads_.emplace_back([loop = server->loops_[i].get()] { loop->run(); });
    const std::string name = i < options.io_threads ? "io " + std::to_string(i) : "metrics";
    pthread_setname_np(server->threads_.back().native_handle(), name.c_str());
  }
  return server;
}

Status Server::bind() {
  std::vector<net::Loop*> loops;
  for (const auto& loop : loops_) loops.push_back(loop.get());
  if (options_.http) {
    net::HttpServerOptions http{options_.http_address, options_.http_port, options_.http_limits,
                                "Inference-Header-Content-Length"};
    const auto io_loops = std::span(loops).first(options_.io_threads);
    TAUTO_ASSIGN_OR_RETURN(http_, net::HttpServer::listen(http, io_loops, *http_front_));
  }
  if (options_.metrics) {
    net::HttpServerOptions metrics{options_.metrics_address, options_.metrics_port, {}, ""};
    TAUTO_ASSIGN_OR_RETURN(
        metrics_, net::HttpServer::listen(metrics, std::span(loops).last(1), *metrics_front_));
  }
  return Unit{};
}

void Server::serve(std::vector<model::LoadOutcome> outcomes) {
  for (auto& outcome : outcomes) catalog_.add(std::move(outcome));
  for (const auto& host : catalog_.hosts()) group_->add_model(*host);
  http_front_->serve(catalog_);
  metrics_front_->serve(catalog_);
}

void Server::hurry() {
  MutexLock lock(mutex_);
  hurry_ = true;
  hurried_.notify_all();  // under the mutex: whoever waits may destroy this object next
}

void Server::wait_for_last_requests(Duration wait_max) {
  loops_.front()->post([this] {
    MutexLock lock(mutex_);
    accepted_ = true;  // the last connections are counted now
    hurried_.notify_all();
  });
  {
    MutexLock lock(mutex_);
    hurried_.wait(mutex_, [this]() TAUTO_NO_THREAD_SAFETY_ANALYSIS { return accepted_; });
  }
  const Instant give_up = clock_.now() + wait_max;
  while (clock_.now() < give_up && http_->open_connections() > 0) {
    MutexLock lock(mutex_);
    if (hurry_) return;
    hurried_.wait_until(mutex_, steady(clock_.now() + kDrainPoll),
                        [this]() TAUTO_NO_THREAD_SAFETY_ANALYSIS { return hurry_; });
  }
}

std::size_t Server::shut_down(Duration lame_duck, Duration drain_max) {
  http_front_->leave();
  if (http_ != nullptr) http_->announce_close();
  {
    MutexLock lock(mutex_);
    hurried_.wait_until(mutex_, steady(clock_.now() + lame_duck),
                        [this]() TAUTO_NO_THREAD_SAFETY_ANALYSIS { return hurry_; });
  }
  if (http_ != nullptr) {
    http_->stop_accepting();
    wait_for_last_requests(std::min(lame_duck, kLastRequestWait));
    http_->drain();
  }
  const Instant give_up = clock_.now() + drain_max;
  while (clock_.now() < give_up &&
         (group_->open_requests() > 0 || (http_ != nullptr && http_->open_connections() > 0))) {
    std::this_thread::sleep_for(kDrainPoll);
  }
  const std::size_t left = group_->open_requests();
  stop();
  return left;
}

void Server::stop() {
  for (const auto& loop : loops_) loop->stop();
  threads_.clear();  // joins
  group_->stop();
  for (const auto& loop : loops_) loop->run_ready();  // the last answers
  http_.reset();
  metrics_.reset();
}

Server::~Server() { stop(); }

}  // namespace tauto::serve
