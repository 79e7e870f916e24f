#include "lab/stage_log.h"

#include <limits>

namespace tauto::lab {

StageLog::StageLog() : names_(journey::kStageNames.begin(), journey::kStageNames.end()) {
  names_.emplace_back("total");
}

std::size_t StageLog::column_of(std::string_view name, std::size_t guess) {
  if (guess < names_.size() && names_[guess] == name) return guess;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (names_[i] == name) return i;
  }
  if (names_.size() == kStageColumnCount) {
    overflowed_ = true;
    return kStageColumnCount;
  }
  names_.emplace_back(name);
  return names_.size() - 1;
}

std::uint32_t StageLog::add(std::string_view server_timing) {
  timings_.clear();
  if (!wire::parse_server_timing(server_timing, timings_).ok()) return Sample::kNoStages;
  StageRow row;
  row.fill(std::numeric_limits<float>::quiet_NaN());
  bool any = false;
  std::size_t guess = 0;
  for (const auto& timing : timings_) {
    const auto column = column_of(timing.name, guess);
    if (column == kStageColumnCount) continue;
    row[column] = static_cast<float>(to_ms(timing.duration));
    guess = column + 1;
    any = true;
  }
  if (!any || rows_.size() >= Sample::kNoStages) return Sample::kNoStages;
  rows_.push_back(row);
  return static_cast<std::uint32_t>(rows_.size() - 1);
}

}  // namespace tauto::lab
