#pragma once
// One run of `tauto bench` from options to result: makes the requests, loads the server, sums up.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/arrivals.h"
#include "lab/kserve.h"
#include "lab/load_generator.h"
#include "report/bench_result.h"

namespace tauto::lab {

enum class SpinMode { kAuto, kOn, kOff };

struct BenchOptions {
  enum class Kind { kKserve, kPost, kGet } kind = Kind::kKserve;
  std::string url = "127.0.0.1:8000";
  std::string model;    // kKserve
  std::string version;  // "" lets the server choose
  KserveRequestOptions kserve;
  std::vector<std::string> bodies;  // sent in order and around; kKserve: empty makes random ones
  std::vector<HttpHeader> headers;
  bool journey = true;  // kKserve: ask the server where the time goes

  std::uint32_t concurrency = 0;               // > 0: closed loop
  std::uint64_t millirequests_per_second = 0;  // > 0: open loop
  ArrivalKind arrivals = ArrivalKind::kPoisson;
  Duration length{};  // measured, without the warm-up
  Duration warmup{};
  Duration timeout{};
  std::uint64_t seed = 1;
  std::uint32_t connections_max = 1024;
  SpinMode spin = SpinMode::kAuto;
  std::optional<report::Objective> objective;
  int stop_fd = -1;  // see LoadPlan
};

/// Errors: kInvalidArgument when the options do not fit the model or each other; others when the
/// server cannot be reached or refuses the first request.
Result<report::BenchResult> bench(const BenchOptions& options, const TimeSource& time,
                                  const std::function<void(const LoadProgress&)>& progress);

/// "http://host:port/path" or "host:port". Errors: kInvalidArgument; https is refused.
Result<HttpUrl> parse_url(std::string_view text);

}  // namespace tauto::lab
