#include "lab/bench.h"

#include <sys/resource.h>

#include <algorithm>

#include "lab/machine.h"
#include "lab/summary.h"
#include "lab/target.h"
#include "report/table.h"

namespace tauto::lab {
namespace {

constexpr std::uint32_t kConnectionsEarly = 16;
// The load generator spins for at most 100 us before each start. By default it does so only while
// that takes no more than a twentieth of this machine's CPU time: the server may live here too.
constexpr std::uint64_t kSpinsPerCpuSecond = 500;
constexpr std::uint64_t kOtherDescriptors = 64;

/// Lifts the soft limit of open files as far as needed and allowed, so that a limit of ours is
/// never reported as a failure of the server. Returns how many connections fit.
std::uint32_t room_for_connections(std::uint32_t wanted) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return wanted;
  const rlim_t needed = wanted + kOtherDescriptors;
  if (limit.rlim_cur < needed) {
    limit.rlim_cur = std::min(needed, limit.rlim_max);
    ::setrlimit(RLIMIT_NOFILE, &limit);
    ::getrlimit(RLIMIT_NOFILE, &limit);
  }
  if (limit.rlim_cur >= needed) return wanted;
  return static_cast<std::uint32_t>(
      limit.rlim_cur > kOtherDescriptors ? limit.rlim_cur - kOtherDescriptors : 1);
}

Result<LoadPlan> make_plan(const BenchOptions& options) {
  LoadPlan plan;
  plan.concurrency = options.concurrency;
  plan.length = options.warmup + options.length;
  plan.timeout = options.timeout;
  plan.connections_early = kConnectionsEarly;
  plan.keep_stages = options.kind != BenchOptions::Kind::kKserve || options.journey;
  plan.stop_fd = options.stop_fd;
  if (options.concurrency > 0) {
    if (room_for_connections(options.concurrency) < options.concurrency) {
      return Error{Code::kInvalidArgument,
                   "--concurrency needs more open files than are allowed: raise 'ulimit -n'"};
    }
    return plan;
  }
  plan.connections_max = room_for_connections(options.connections_max);
  plan.spin = options.spin == SpinMode::kOn ||
              (options.spin == SpinMode::kAuto &&
               options.millirequests_per_second <= usable_cpus() * kSpinsPerCpuSecond * 1000);
  plan.arrivals = make_arrivals(
      {options.arrivals, options.millirequests_per_second, plan.length, options.seed});
  if (plan.arrivals.empty()) {
    return Error{Code::kInvalidArgument,
                 "at this rate nothing would be sent: use a longer --duration"};
  }
  return plan;
}

report::BenchConfig describe(const BenchOptions& options, const LoadPlan& plan,
                             const Target& target) {
  report::BenchConfig config;
  config.target = "http://" + target.endpoint.name;
  config.request = target.description;
  if (options.concurrency > 0) {
    config.arrivals = "closed loop";
    config.load = report::format_count(options.concurrency) + " at a time";
  } else {
    config.rate = static_cast<double>(options.millirequests_per_second) / 1000;
    config.arrivals = options.arrivals == ArrivalKind::kPoisson ? "poisson" : "constant";
    config.load = report::format_number(*config.rate) + "/s " + config.arrivals;
  }
  config.concurrency = options.concurrency;
  config.seed = options.seed;
  config.length = options.length;
  config.warmup = options.warmup;
  config.timeout = options.timeout;
  config.connections_max = options.concurrency > 0 ? options.concurrency : plan.connections_max;
  config.spin = plan.spin;
  config.distinct_requests = target.requests.size();
  config.rows_per_request = target.rows_per_request;
  return config;
}

}  // namespace

Result<report::BenchResult> bench(const BenchOptions& options, const TimeSource& time,
                                  const std::function<void(const LoadProgress&)>& progress) {
  TAUTO_CHECK((options.concurrency > 0) != (options.millirequests_per_second > 0));
  TAUTO_ASSIGN_OR_RETURN(const auto plan, make_plan(options));
  TAUTO_ASSIGN_OR_RETURN(auto target, make_target(options));
  report::BenchResult result;
  result.machine = describe_machine();
  result.config = describe(options, plan, target);
  result.objective = options.objective;
  TAUTO_ASSIGN_OR_RETURN(const auto log,
                         generate_load(plan, target.endpoint, target.requests, time, progress));
  summarise(log, result);
  return result;
}

}  // namespace tauto::lab
