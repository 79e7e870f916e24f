#pragma once
// Which models are served, by name and version; also those that could not be loaded, with the
// reason.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/loader.h"
#include "serve/model_host.h"

namespace tauto::serve {

/// Fixed once serving starts. Threads: any, after the last add().
class Catalog {
 public:
  /// `shards`: IO loops, for the per-loop counters of each model.
  Catalog(std::size_t shards, const TimeSource& clock) : shards_(shards), clock_(clock) {}

  void add(model::LoadOutcome outcome);

  /// `version` empty = the latest ready one. Errors: kNotFound in Triton's words; kUnavailable for
  /// a version that is known but not ready.
  Result<ModelHost*> find(std::string_view name, std::string_view version) const;
  /// All ready versions of `name`, ascending; empty when unknown.
  std::vector<std::int64_t> ready_versions(std::string_view name) const;

  const std::vector<std::unique_ptr<ModelHost>>& hosts() const { return hosts_; }
  /// Every model and version that was tried, in the order of add().
  struct Entry {
    std::string name;
    std::optional<std::int64_t> version;
    model::ModelState state;
    std::string reason;
  };
  const std::vector<Entry>& entries() const { return entries_; }
  /// True when every entry is ready.
  bool all_ready() const;

 private:
  std::size_t shards_;
  const TimeSource& clock_;
  std::vector<std::unique_ptr<ModelHost>> hosts_;
  std::vector<Entry> entries_;
  std::map<std::string, std::map<std::int64_t, ModelHost*>, std::less<>> by_name_;
};

}  // namespace tauto::serve
