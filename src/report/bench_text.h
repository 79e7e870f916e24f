#pragma once
// A run as a person reads it on a terminal. Pure. The sentences also stand in the HTML page.

#include <string>
#include <vector>

#include "report/bench_result.h"

namespace tauto::report {

/// The first line: how much was measured, and whether the client kept the rate.
std::string headline(const BenchResult& result);
/// "27.1 ms", or "not enough samples, need 3 688".
std::string percentile_text(const Percentile& percentile);
/// "99.3 % within 30 ms: the objective p99<30ms holds"; "" without an objective.
std::string goodput_text(const BenchResult& result);
/// "none", or "12 of 1 600 (0.75 %): HTTP 429 10, timeout 2".
std::string errors_text(const BenchResult& result);
/// "80.1/s done, 80.2/s asked; by second 71 to 92".
std::string throughput_text(const BenchResult& result);
/// "0.31 CPU s, 52 000 requests per CPU-second, 12 connections".
std::string client_text(const BenchResult& result);

/// Cells, the head first: latency, service and lag by percentile.
std::vector<std::vector<std::string>> latency_rows(const BenchResult& result);
/// Cells, the head first: each part of the latency that took any time.
std::vector<std::vector<std::string>> stage_rows(const BenchResult& result);

/// The whole report, several lines.
std::string bench_text(const BenchResult& result);

}  // namespace tauto::report
