#include "app/bench_command.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <utility>

#include "app/bench_flags.h"
#include "base/text.h"
#include "net/monotonic.h"
#include "report/bench_html.h"
#include "report/bench_json.h"
#include "report/bench_text.h"
#include "report/table.h"
#include "serve/version.h"

namespace tauto::app {
namespace {

constexpr int kMeasured = 0;
constexpr int kCouldNotRun = 1;
constexpr int kBadFlags = 2;
constexpr int kObjectiveFailed = 3;

int complain(const Error& error) {
  std::fprintf(stderr, "tauto bench: %s\n", error.message.c_str());
  return error.code == Code::kInvalidArgument ? kBadFlags : kCouldNotRun;
}

/// SIGINT and SIGTERM as a readable descriptor while this object lives.
class StopSignals {
 public:
  StopSignals() {
    sigset_t set;
    ::sigemptyset(&set);
    ::sigaddset(&set, SIGINT);
    ::sigaddset(&set, SIGTERM);
    ::pthread_sigmask(SIG_BLOCK, &set, &before_);
    fd_ = ::signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
  }
  ~StopSignals() {
    if (fd_ >= 0) ::close(fd_);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  int fd() const { return fd_; }

 private:
  sigset_t before_{};
  int fd_ = -1;
};

void print_progress(const lab::LoadProgress& p) {
  std::fprintf(stderr, "\r%.0f s · %s begun · %s good · %s failed · %s under way\x1b[K",
               to_s(p.elapsed), report::format_count(p.begun).c_str(),
               report::format_count(p.ok).c_str(), report::format_count(p.failed).c_str(),
               report::format_count(p.under_way).c_str());
  std::fflush(stderr);
}

bool write_file(const std::string& path, const std::string& text) {
  FILE* file = path == "-" ? stdout : std::fopen(path.c_str(), "wb");
  bool good = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (file != nullptr && file != stdout) good = std::fclose(file) == 0 && good;
  if (!good) std::fprintf(stderr, "tauto bench: cannot write '%s'\n", path.c_str());
  return good;
}

int exit_code(const report::BenchResult& result) {
  if (result.ok == 0) return kCouldNotRun;
  using Verdict = report::Objective::Verdict;
  if (!result.objective) return kMeasured;
  const auto verdict = result.objective->verdict;
  return verdict == Verdict::kFails || verdict == Verdict::kUndecided ? kObjectiveFailed
                                                                      : kMeasured;
}

}  // namespace

int run_bench(int argc, char** argv) {
  auto parsed = parse_bench_flags(argc, argv);
  if (!parsed.ok()) return complain(parsed.error());
  if (const auto* help = std::get_if<HelpText>(&parsed.value())) {
    std::fputs(help->text.c_str(), stdout);
    return kMeasured;
  }
  auto& command = std::get<BenchCommand>(parsed.value());
  const StopSignals signals;
  command.options.stop_fd = signals.fd();
  const bool live = !command.quiet && ::isatty(STDERR_FILENO) == 1;
  const net::MonotonicTime time;
  auto run = lab::bench(command.options, time,
                        live ? print_progress : std::function<void(const lab::LoadProgress&)>());
  if (live) std::fputs("\r\x1b[K", stderr);
  if (!run.ok()) return complain(run.error());
  auto& result = run.value();
  result.machine.program = "tauto " + std::string(serve::kVersion);
  if (command.json_file != "-") std::fputs(report::bench_text(result).c_str(), stdout);
  bool written = true;
  if (!command.json_file.empty()) {
    written = write_file(command.json_file, report::bench_json(result));
  }
  if (!command.html_file.empty()) {
    written = write_file(command.html_file, report::bench_html(result)) && written;
  }
  return written ? exit_code(result) : kCouldNotRun;
}

}  // namespace tauto::app
