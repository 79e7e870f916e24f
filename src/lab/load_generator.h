#pragma once
// Sends requests when they are meant to be sent and stamps what happens. One thread, which must be
// the caller's; nothing on the way of a request allocates after the first requests.
//
// Open loop: arrivals are absolute offsets from the start and are never moved, whatever happens. A
// request that cannot be sent in time is sent late and its lateness is part of its latency. Closed
// loop: `concurrency` requests are under way at any time; each begins when the one before it ended.

#include <cstdint>
#include <functional>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "lab/request_set.h"
#include "lab/sample.h"
#include "lab/stage_log.h"
#include "net/http_client.h"

namespace tauto::lab {

struct LoadPlan {
  std::vector<Duration> arrivals;       // ascending offsets; used when `concurrency` is 0
  std::uint32_t concurrency = 0;        // > 0: closed loop
  Duration length{};                    // no request starts later than this
  Duration timeout{};                   // a request is given up that long after its intended start
  std::uint32_t connections_max = 1;    // open loop only; further requests wait, which is latency
  std::uint32_t connections_early = 1;  // opened before the start
  bool spin = false;                    // burn CPU for the last 100 us before each arrival
  bool keep_stages = false;             // parse Server-Timing
  int stop_fd = -1;  // readable once: start nothing more; twice: also give up what is under way
};

struct LoadProgress {
  Duration elapsed;
  std::uint64_t begun;  // requests whose intended start has passed
  std::uint64_t ok;
  std::uint64_t failed;
  std::uint64_t under_way;  // begun and not ended
};

struct LoadLog {
  BlockLog<Sample> samples;  // in the order in which they ended
  StageLog stages;
  Instant started{};  // samples count from here
  Duration length{};  // how long requests were started: the plan's length unless interrupted
  Duration whole{};   // until the last one ended
  bool interrupted = false;
  double cpu_seconds = 0;  // of the sending thread
  std::uint64_t connections_opened = 0;
  std::uint64_t under_way_peak = 0;
  std::uint64_t bytes_received = 0;  // bodies only
};

/// Blocks until every request has ended. `progress` (may be empty) is called about once a second.
/// Errors: kUnavailable when no connection can be made at the start.
Result<LoadLog> generate_load(const LoadPlan& plan, const net::Endpoint& endpoint,
                              RequestSet& requests, const TimeSource& time,
                              const std::function<void(const LoadProgress&)>& progress);

}  // namespace tauto::lab
