#pragma once
// Journeys as others read them: JSON with exact histograms, and Prometheus' fixed buckets.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/log_histogram.h"
#include "base/time.h"
#include "journey/histograms.h"
#include "journey/labels.h"
#include "journey/slowest.h"

namespace tauto::journey {

/// Upper bounds of the buckets of `tauto_stage_seconds`, in seconds; +Inf follows.
inline constexpr std::array<double, 24> kBoundsSeconds{
    1e-6, 2e-6, 5e-6, 1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3,
    1e-2, 2e-2, 5e-2, 0.1,  0.2,  0.5,  1,    2,    5,    10,   30,   60};

/// Values (ns) at most kBoundsSeconds[i], cumulative; the last entry is +Inf and the count. A value
/// is placed by the lower edge of its log bucket, so one just above a bound (< 1.6 %) counts below.
std::array<std::uint64_t, kBoundsSeconds.size() + 1> reduce_to_bounds(const LogHistogram& ns);

struct JourneysPage {
  std::string_view model;
  std::string_view version;
  Instant now;
  const StageSnapshot& stages;
  std::span<const Slowest::Minute> slowest;
  std::span<const LabelSnapshot> labels;
};

/// Appends the answer of GET /v2/models/M/journeys. Histograms are
/// {"unit":"ns","count","sum","min","max","p50","p90","p99","p999","buckets":[[lower,count],...]},
/// non-empty buckets only; a percentile that the samples cannot support is null. Times of requests
/// are seconds before `now`.
void append_journeys_json(const JourneysPage& page, std::string& out);

/// The histogram object alone, as above.
void append_histogram_json(const LogHistogram& ns, std::string& out);

}  // namespace tauto::journey
