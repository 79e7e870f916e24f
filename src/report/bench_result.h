#pragma once
// Everything that is known about one run of `tauto bench`, as plain values: the lab fills it, the
// report room prints it. All latencies are of requests that succeeded; errors are counted apart.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"

namespace tauto::report {

struct Percentile {
  double q;                       // 0.99
  std::string name;               // "P99"
  std::optional<Duration> value;  // absent: too few samples
  std::uint64_t needed;           // samples that would be enough
};

struct Distribution {
  std::uint64_t count = 0;
  Duration mean{};
  Duration min{};
  Duration max{};
  std::vector<Percentile> percentiles;  // P50 P90 P95 P99 P99.9
};

/// One part of the latency, as `where` shows it.
struct StageFigures {
  std::string name;  // lag, network, or the server's own word
  bool of_server;
  Distribution times;
};

/// One second of the run; requests belong to the second of their intended start.
struct Second {
  std::uint32_t second = 0;  // since the start, warm-up included
  std::uint64_t asked = 0;   // intended starts
  std::uint64_t sent = 0;
  std::uint64_t ended = 0;  // whole good replies that came in this second
  std::uint64_t ok = 0;
  std::uint64_t failed = 0;
  std::optional<Duration> p50, p90, p99;  // absent: too few samples
  Duration max{};
  std::vector<double> stage_ms;  // mean by BenchResult::stages; 0 where unknown
};

struct ErrorClass {
  std::string what;  // "HTTP 429", "timeout"
  std::uint64_t count;
  std::string remark;  // "" or what is to be known about it
};

/// A request in the scatter plot.
struct Dot {
  double at_s;  // intended start
  double latency_ms;
  bool ok;
};

struct CurvePoint {
  double q;  // share of requests that are not slower
  double latency_ms;
};

struct HistogramBucket {
  std::int64_t from_ns;
  std::uint64_t count;
};

struct Objective {
  std::string text;  // as asked, "p99<30ms"
  Duration limit{};
  std::optional<double> share;  // 0.99; absent when only a limit was given
  enum class Verdict { kNone, kHolds, kFails, kUndecided } verdict = Verdict::kNone;
  std::uint64_t needed = 0;  // requests needed to decide, when undecided
};

struct BenchConfig {
  std::string target;          // "http://127.0.0.1:8000"
  std::string request;         // "model minilm, binary tensors, batch 1" or "POST /path"
  std::string load;            // "80/s poisson" or "8 at a time"
  std::optional<double> rate;  // asked, requests per second; absent in a closed loop
  std::string arrivals;        // "poisson", "constant", "closed loop"
  std::uint32_t concurrency = 0;
  std::uint64_t seed = 0;
  Duration length{};
  Duration warmup{};
  Duration timeout{};
  std::uint32_t connections_max = 0;
  bool spin = false;
  std::uint64_t distinct_requests = 0;
  std::uint64_t rows_per_request = 1;
};

struct Machine {
  std::string cpu;
  std::uint32_t cpus = 0;  // that this process may use
  std::uint64_t memory_bytes = 0;
  std::string kernel;
  std::string program;  // "tauto 0.1.0"
  std::string started;  // UTC, ISO 8601
};

struct BenchResult {
  BenchConfig config;
  Machine machine;
  bool interrupted = false;
  Duration measured{};  // without the warm-up

  std::uint64_t planned = 0;  // intended starts in the measured time
  std::uint64_t sent = 0;
  std::uint64_t ok = 0;
  std::uint64_t failed = 0;
  double rate_done = 0;  // good replies per second
  double bytes_per_second = 0;
  std::vector<ErrorClass> errors;
  std::uint64_t warmup_requests = 0;

  bool rate_kept = true;    // always true in a closed loop
  std::string rate_reason;  // why not

  Distribution latency;  // from the intended start
  Distribution service;  // from the first byte sent
  Distribution lag;      // from the intended start to the first byte sent; all that were sent

  bool server_timing = false;        // the server said where the time went
  std::string server_timing_remark;  // when it did not, or not always
  std::vector<StageFigures> stages;  // lag, network, then the server's in its order

  std::optional<Objective> objective;
  std::uint64_t within = 0;  // good replies within the objective's limit

  double client_cpu_seconds = 0;
  double requests_per_cpu_second = 0;
  std::uint64_t connections_opened = 0;
  std::uint64_t under_way_peak = 0;
  std::uint64_t resent = 0;
  std::uint64_t capped = 0;  // waited because all connections were busy

  std::vector<Second> seconds;
  std::vector<Dot> dots;  // at most a few thousand: the slowest of each moment and a sample of all
  std::vector<CurvePoint> curve;           // of the latency
  std::vector<CurvePoint> service_curve;   // of the service time
  std::vector<HistogramBucket> histogram;  // of the latency
};

}  // namespace tauto::report
