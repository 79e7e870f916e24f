#include "lab/objective.h"

#include <charconv>
#include <cmath>
#include <string>

#include "base/percentile.h"
#include "base/text.h"

namespace tauto::lab {

using report::Objective;

Result<Objective> parse_objective(std::string_view text) {
  const Error refused{Code::kInvalidArgument, "'" + std::string(text) +
                                                  "' is not an objective: write p99<30ms, or 30ms "
                                                  "to count what is within it"};
  Objective objective;
  objective.text = text;
  std::string_view limit = text;
  if (const auto sign = text.find('<'); sign != std::string_view::npos) {
    auto left = text.substr(0, sign);
    while (!left.empty() && left.back() == ' ') left.remove_suffix(1);
    limit = text.substr(sign + 1);
    if (!limit.empty() && limit.front() == '=') limit.remove_prefix(1);
    while (!limit.empty() && limit.front() == ' ') limit.remove_prefix(1);
    if (left.size() < 2 || (left.front() != 'p' && left.front() != 'P')) return refused;
    double percent = 0;
    const auto [end, failure] =
        std::from_chars(left.data() + 1, left.data() + left.size(), percent);
    if (failure != std::errc{} || end != left.data() + left.size()) return refused;
    if (!(percent > 0 && percent < 100)) return refused;
    objective.share = percent / 100;
  }
  auto duration = parse_duration(limit);
  if (!duration.ok() || duration.value() <= Duration::zero()) return refused;
  objective.limit = duration.value();
  return objective;
}

void judge(Objective& objective, std::uint64_t planned, std::uint64_t within) {
  if (!objective.share) return;
  const double share = *objective.share;
  const std::uint64_t needed = samples_needed(share);
  const std::uint64_t late = planned - within;
  // Nearest rank: the ceil(share * n)-th fastest decides, so floor((1 - share) * n) may be late.
  const auto may_be_late = [share](std::uint64_t n) {
    const double exact = share * static_cast<double>(n);
    return n - static_cast<std::uint64_t>(std::ceil(exact - 1e-9 * exact));
  };
  if (late > may_be_late(std::max(planned, needed))) {
    objective.verdict = Objective::Verdict::kFails;
  } else if (planned < needed) {
    objective.verdict = Objective::Verdict::kUndecided;
    objective.needed = needed;
  } else {
    objective.verdict = Objective::Verdict::kHolds;
  }
}

}  // namespace tauto::lab
