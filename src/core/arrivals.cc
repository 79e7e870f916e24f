#include "core/arrivals.h"

#include <cmath>

#include "base/check.h"

namespace tauto {

std::optional<ArrivalKind> arrival_kind_from_name(std::string_view name) {
  if (name == "constant") return ArrivalKind::kConstant;
  if (name == "poisson") return ArrivalKind::kPoisson;
  return std::nullopt;
}

std::vector<Duration> make_arrivals(const ArrivalPlan& plan) {
  TAUTO_CHECK(plan.millirequests_per_second > 0);
  const double gap_ns = 1e12 / static_cast<double>(plan.millirequests_per_second);
  const auto length_ns = static_cast<double>(plan.length.count());
  std::vector<Duration> offsets;
  offsets.reserve(static_cast<std::size_t>(length_ns / gap_ns) + 16);
  SplitMix64 random(plan.seed);
  double at = plan.kind == ArrivalKind::kPoisson ? -gap_ns * std::log(random.next_unit()) : 0;
  for (std::uint64_t k = 1; at < length_ns; ++k) {
    offsets.emplace_back(static_cast<std::int64_t>(at));
    at = plan.kind == ArrivalKind::kPoisson ? at - gap_ns * std::log(random.next_unit())
                                            : gap_ns * static_cast<double>(k);
  }
  return offsets;
}

}  // namespace tauto
