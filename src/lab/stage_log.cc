#include "lab/stage_log.h"

#include <charconv>
#include <cmath>
#include <limits>

namespace tauto::lab {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

/// Cuts `text` at the first `mark` outside quotes; returns the part before it.
std::string_view cut(std::string_view& text, char mark) {
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') quoted = !quoted;
    if (text[i] == '\\' && quoted) {
      ++i;
    } else if (text[i] == mark && !quoted) {
      const auto head = text.substr(0, i);
      text.remove_prefix(i + 1);
      return head;
    }
  }
  const auto head = text;
  text = {};
  return head;
}

/// The `dur` of an entry's parameters, or NaN.
float duration_of(std::string_view parameters) {
  while (!parameters.empty()) {
    auto parameter = trimmed(cut(parameters, ';'));
    if (parameter.size() < 4 || trimmed(cut(parameter, '=')) != "dur") continue;
    parameter = trimmed(parameter);
    if (parameter.size() >= 2 && parameter.front() == '"') {
      parameter = parameter.substr(1, parameter.size() - 2);
    }
    float value = 0;
    const auto end = parameter.data() + parameter.size();
    if (std::from_chars(parameter.data(), end, value).ec == std::errc{} && std::isfinite(value)) {
      return value;
    }
  }
  return std::numeric_limits<float>::quiet_NaN();
}

}  // namespace

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
  StageRow row;
  row.fill(std::numeric_limits<float>::quiet_NaN());
  bool any = false;
  std::size_t guess = 0;
  while (!server_timing.empty()) {
    auto entry = cut(server_timing, ',');
    const auto name = trimmed(cut(entry, ';'));
    if (name.empty()) continue;
    const float ms = duration_of(entry);
    if (std::isnan(ms)) continue;
    const auto column = column_of(name, guess);
    if (column == kStageColumnCount) continue;
    row[column] = ms;
    guess = column + 1;
    any = true;
  }
  if (!any || rows_.size() >= Sample::kNoStages) return Sample::kNoStages;
  rows_.push_back(row);
  return static_cast<std::uint32_t>(rows_.size() - 1);
}

}  // namespace tauto::lab
