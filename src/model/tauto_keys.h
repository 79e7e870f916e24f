#pragma once
// Every `tauto.*` key a config's `parameters` may hold, in one table. They live there so that the
// same file still loads in Triton. An unknown one is refused with the nearest known.

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/config.h"

namespace tauto::model {

struct TautoKey {
  std::string_view name;  // ends in ".*" when anything may follow
  std::string_view type;  // for people
  std::string_view meaning;
};
std::span<const TautoKey> tauto_keys();

struct KeyError {
  std::string key;
  Error error;
};
/// Reads the `tauto.*` keys of config.parameters into the fields they set. nullopt when all is
/// well.
std::optional<KeyError> apply_tauto_keys(Config& config);

/// "direct", "eager", "fixed", "triton". Errors: kUnimplemented for "rollout", kInvalidArgument for
/// other words, with the nearest.
Result<sched::PolicyKind> policy_from_name(std::string_view name);
std::string_view policy_name(sched::PolicyKind kind);

/// Chooses a policy and fills what it needs (fixed: rows_fixed = rows_max unless set).
void set_policy(Config& config, sched::PolicyKind kind);

}  // namespace tauto::model
