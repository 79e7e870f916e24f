#include "serve/catalog.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace tauto::serve {

void Catalog::add(model::LoadOutcome outcome) {
  entries_.push_back({outcome.name, outcome.version, outcome.state, outcome.reason});
  if (outcome.loaded == nullptr) return;
  hosts_.push_back(std::make_unique<ModelHost>(std::move(outcome.loaded), shards_, clock_));
  ModelHost& host = *hosts_.back();
  by_name_[host.name()][host.version()] = &host;
}

Result<ModelHost*> Catalog::find(std::string_view name, std::string_view version) const {
  const auto model = by_name_.find(name);
  const std::string shown = "'" + std::string(name) + "'";
  if (model == by_name_.end()) {
    for (const auto& entry : entries_) {
      if (entry.name != name) continue;
      if (version.empty()) {
        return Error{Code::kNotFound, "Request for unknown model: " + shown +
                                          " has no available versions: " + entry.reason};
      }
    }
    return Error{Code::kNotFound, "Request for unknown model: " + shown + " is not found"};
  }
  if (version.empty()) return model->second.rbegin()->second;
  std::int64_t number = 0;
  const auto [end, failure] =
      std::from_chars(version.data(), version.data() + version.size(), number);
  const auto found = failure == std::errc{} && end == version.data() + version.size()
                         ? model->second.find(number)
                         : model->second.end();
  if (found != model->second.end()) return found->second;
  for (const auto& entry : entries_) {
    if (entry.name == name && entry.version == number) {
      return Error{Code::kUnavailable, "Request for unknown model: " + shown + " version " +
                                           std::string(version) +
                                           " is not at ready state: " + entry.reason};
    }
  }
  return Error{Code::kNotFound, "Request for unknown model: " + shown + " version " +
                                    std::string(version) + " is not found"};
}

std::vector<std::int64_t> Catalog::ready_versions(std::string_view name) const {
  std::vector<std::int64_t> versions;
  const auto model = by_name_.find(name);
  if (model == by_name_.end()) return versions;
  for (const auto& [version, host] : model->second) versions.push_back(version);
  return versions;
}

bool Catalog::all_ready() const {
  return std::all_of(entries_.begin(), entries_.end(),
                     [](const Entry& e) { return e.state == model::ModelState::kReady; });
}

}  // namespace tauto::serve
