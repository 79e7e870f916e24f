#include "app/serve_command.h"

#include <signal.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>

#include "app/engine_paths.h"
#include "app/host.h"
#include "app/serve_flags.h"
#include "app/start_table.h"
#include "base/mutex.h"
#include "base/text.h"
#include "engine/onnx/onnx_engine.h"
#include "engine/synthetic.h"
#include "net/monotonic.h"
#include "serve/journey_switch.h"

namespace tauto::app {
namespace {

int fail(const std::string& message) {
  std::fprintf(stderr, "tauto serve: %s\n", message.c_str());
  return 2;
}

/// Turns signals into a request to end; a second one ends the lame duck phase.
class SignalWatch {
 public:
  SignalWatch() {
    sigemptyset(&set_);
    sigaddset(&set_, SIGTERM);
    sigaddset(&set_, SIGINT);
    sigaddset(&set_, SIGUSR2);  // our own destructor
    pthread_sigmask(SIG_BLOCK, &set_, nullptr);
    thread_ = std::jthread([this] { watch(); });
  }
  ~SignalWatch() { pthread_kill(thread_.native_handle(), SIGUSR2); }

  /// Before this, a signal ends the process at once: nothing is being served yet.
  void serving(serve::Server& server) {
    MutexLock lock(mutex_);
    server_ = &server;
  }
  /// Blocks until a signal came; which one.
  int wait() {
    MutexLock lock(mutex_);
    came_.wait(mutex_, [this]() TAUTO_NO_THREAD_SAFETY_ANALYSIS { return first_ != 0; });
    return first_;
  }
  /// The server has ended: signals mean nothing any more.
  void ended() {
    MutexLock lock(mutex_);
    ended_ = true;
  }

 private:
  void watch() {
    while (true) {
      int signal = 0;
      sigwait(&set_, &signal);
      if (signal == SIGUSR2) return;
      MutexLock lock(mutex_);
      if (ended_) continue;
      if (server_ == nullptr) {
        std::fputs("tauto serve: stopped while loading\n", stderr);
        std::_Exit(0);
      }
      if (first_ != 0) server_->hurry();
      if (first_ == 0) first_ = signal;
      came_.notify_all();
    }
  }

  sigset_t set_{};
  Mutex mutex_;
  CondVar came_;
  int first_ TAUTO_GUARDED_BY(mutex_) = 0;
  bool ended_ TAUTO_GUARDED_BY(mutex_) = false;
  serve::Server* server_ TAUTO_GUARDED_BY(mutex_) = nullptr;
  std::jthread thread_;
};

struct EngineSet {
  std::unique_ptr<engine::Engine> synthetic;
  std::unique_ptr<engine::Engine> onnx;
  model::Engines by_backend;
};

/// Stands still: in the build that measures what stamps cost, the engine's cost nothing.
class FrozenTime final : public TimeSource {
 public:
  Instant now() const override { return Instant{}; }
};

EngineSet make_engines(const ServeFlags& flags, const TimeSource& clock) {
  EngineSet set;
  set.synthetic = engine::make_synthetic_engine(clock);
  set.onnx = engine::make_onnx_engine(
      {flags.onnxruntime_library, onnxruntime_candidates(), cpu_quota()}, clock);
  set.by_backend = {{"synthetic", set.synthetic.get()}, {"onnxruntime", set.onnx.get()}};
  return set;
}

bool write_port_file(const std::string& path, const serve::Server& server) {
  const std::string part = path + ".part";
  std::FILE* file = std::fopen(part.c_str(), "w");
  if (file == nullptr) return false;
  std::fprintf(file, "http %u\nmetrics %u\n", server.http_port(), server.metrics_port());
  return std::fclose(file) == 0 && std::rename(part.c_str(), path.c_str()) == 0;
}

/// Loads everything; the outcomes, or why there is nothing to serve.
Result<std::vector<model::LoadOutcome>> load(const ServeFlags& flags, const EngineSet& engines,
                                             const TimeSource& clock) {
  TAUTO_ASSIGN_OR_RETURN(const auto sources, model::scan_repositories(flags.paths));
  if (sources.empty()) {
    return Error{Code::kNotFound, "no models in " + flags.paths.front() +
                                      ": it needs <model>/<version>/model.onnx, with or without "
                                      "<model>/config.pbtxt"};
  }
  for (const auto& source : sources) {
    for (const auto& warning : source.warnings) {
      std::fprintf(stderr, "warning: %s: %s\n", source.name.c_str(), warning.c_str());
    }
  }
  model::LoadSettings settings;
  settings.cpu_quota = cpu_quota();
  settings.warm_budget = flags.warm_budget;
  settings.rows_max_default = flags.rows_max_default;
  settings.auto_complete = flags.auto_complete;
  settings.policy = flags.policy;
  return model::load_all(sources, engines.by_backend, clock, settings);
}

}  // namespace

int run_serve(int argc, char** argv) {
  ParsedServe parsed = parse_serve_flags(argc, argv);
  if (parsed.stop) {
    std::fputs(parsed.stop->text.c_str(), parsed.stop->status == 0 ? stdout : stderr);
    return parsed.stop->status;
  }
  ServeFlags& flags = parsed.flags;
  // One IO thread answers tens of thousands of requests a second; the cores belong to the models.
  flags.server.io_threads =
      flags.io_threads.value_or(static_cast<std::size_t>(std::max(1, cpu_quota() / 4)));
  for (const auto& note : flags.notes) std::fprintf(stderr, "note: %s\n", note.c_str());

  SignalWatch signals;
  const net::MonotonicTime clock;
  auto server = serve::Server::start(flags.server, clock);
  if (!server.ok()) return fail(server.error().message);
  const FrozenTime frozen;
  const TimeSource& engine_clock =
      serve::kJourneys ? static_cast<const TimeSource&>(clock) : frozen;
  const EngineSet engines = make_engines(flags, engine_clock);
  auto outcomes = load(flags, engines, clock);
  if (!outcomes.ok()) return fail(outcomes.error().message);
  std::fputs(start_table(outcomes.value()).c_str(), stdout);
  const auto problem = start_problem(outcomes.value(), flags.exit_on_error);
  if (!problem.empty()) return fail(problem);

  serve::Server& running = *server.value();
  running.serve(std::move(outcomes).value());
  signals.serving(running);
  std::fputs(ready_line(running, flags.server).c_str(), stdout);
  std::fflush(stdout);
  if (!flags.port_file.empty() && !write_port_file(flags.port_file, running)) {
    signals.ended();
    return fail("cannot write " + flags.port_file);
  }
  const int signal = signals.wait();
  const Duration lame_duck = signal == SIGINT ? Duration::zero() : flags.lame_duck;
  std::fprintf(stderr, "%s: not ready any more; ending in %s\n",
               signal == SIGINT ? "SIGINT" : "SIGTERM", format_duration(lame_duck).c_str());
  const std::size_t left = running.shut_down(lame_duck, flags.exit_timeout);
  signals.ended();
  if (left > 0) {
    std::fprintf(stderr, "%zu requests were cut off after %s\n", left,
                 format_duration(flags.exit_timeout).c_str());
  }
  return left == 0 ? 0 : 1;
}

}  // namespace tauto::app
