#include "model/tauto_keys.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>

#include "base/text.h"

namespace tauto::model {
namespace {

using sched::PolicyKind;

constexpr std::array kPolicies = {std::pair{std::string_view("direct"), PolicyKind::kDirect},
                                  std::pair{std::string_view("eager"), PolicyKind::kEager},
                                  std::pair{std::string_view("fixed"), PolicyKind::kFixed},
                                  std::pair{std::string_view("triton"), PolicyKind::kTriton}};

Error wrong(std::string message) { return Error{Code::kInvalidArgument, std::move(message)}; }

std::string quoted(std::string_view word) { return "\"" + std::string(word) + "\""; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> out;
  for (;;) {
    const auto at = text.find(separator);
    out.push_back(trimmed(text.substr(0, at)));
    if (at == std::string_view::npos) return out;
    text.remove_prefix(at + 1);
  }
}

Status read_policy(std::string_view value, Config& c) {
  TAUTO_ASSIGN_OR_RETURN(const auto kind, policy_from_name(value));
  c.scheduling.policy = kind;
  return Unit{};
}

Result<Duration> read_positive(std::string_view value) {
  TAUTO_ASSIGN_OR_RETURN(const auto duration, parse_duration(value));
  if (duration > std::chrono::hours(24)) return wrong(quoted(value) + " is more than a day");
  return duration;
}

Status read_deadline(std::string_view value, Config& c) {
  TAUTO_ASSIGN_OR_RETURN(const auto duration, read_positive(value));
  if (duration <= Duration::zero()) return wrong("must be more than 0, like 50ms");
  c.objective = duration;
  return Unit{};
}

Status read_hold_max(std::string_view value, Config& c) {
  TAUTO_ASSIGN_OR_RETURN(c.scheduling.hold_max, read_positive(value));
  if (c.scheduling.hold_max < Duration::zero()) return wrong("must be 0 or more, like 5ms");
  return Unit{};
}

Status read_fixed_rows(std::string_view value, Config& c) {
  // Until auto-completion has spoken, max_batch_size 0 may still grow.
  const bool open = c.rows_max == 0 && (c.inputs.empty() || c.outputs.empty());
  TAUTO_ASSIGN_OR_RETURN(const auto rows,
                         parse_count(value, 1, open ? 1u << 20 : c.scheduling.rows_max));
  c.scheduling.rows_fixed = static_cast<std::uint32_t>(rows);
  return Unit{};
}

Status read_queue_depth(std::string_view value, Config& c) {
  TAUTO_ASSIGN_OR_RETURN(const auto depth, parse_count(value, 1, 10'000'000));
  c.scheduling.queue_depth_max = static_cast<std::uint32_t>(depth);
  return Unit{};
}

Status read_on_late(std::string_view value, Config& c) {
  if (value != "reject" && value != "finish") {
    return wrong(quoted(value) + " is neither \"reject\" nor \"finish\"");
  }
  c.scheduling.late_is_error = value == "reject";
  return Unit{};
}

Status read_threads(std::string_view value, Config& c) {
  TAUTO_ASSIGN_OR_RETURN(const auto threads, parse_count(value, 1, 1'024));
  c.threads = static_cast<int>(threads);
  return Unit{};
}

Status read_spin(std::string_view value, Config& c) {
  if (value != "true" && value != "false") {
    return wrong(quoted(value) + " is neither \"true\" nor \"false\"");
  }
  c.spin = value == "true";
  return Unit{};
}

Status read_label_names(std::string_view value, Config& c) {
  constexpr std::size_t names_max = 8;
  for (const auto name : split(value, ',')) {
    const auto plain = [](char ch) {
      return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || (ch >= '0' && ch <= '9') ||
             ch == '_';
    };
    if (name.empty() || name.size() > 64 || !std::all_of(name.begin(), name.end(), plain) ||
        (name[0] >= '0' && name[0] <= '9')) {
      return wrong(quoted(name) + " is no label name: letters, digits and _, like tenant,route");
    }
    auto& names = c.labels.names;
    if (std::find(names.begin(), names.end(), name) != names.end()) {
      return wrong(quoted(name) + " is there twice");
    }
    names.emplace_back(name);
  }
  if (c.labels.names.size() > names_max) {
    return wrong("more than " + std::to_string(names_max) + " labels");
  }
  return Unit{};
}

Status read_label_values_max(std::string_view value, Config& c) {
  TAUTO_ASSIGN_OR_RETURN(const auto most, parse_count(value, 1, 1'000));
  c.labels.values_max = static_cast<std::uint32_t>(most);
  return Unit{};
}

/// "[1,128]"; every dimension fixed.
Result<Shape> parse_shape(std::string_view text) {
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') {
    return wrong(quoted(text) + " is no shape like [1,128]");
  }
  Shape out;
  const auto inside = trimmed(text.substr(1, text.size() - 2));
  if (inside.empty()) return out;
  for (const auto part : split(inside, ',')) {
    std::int64_t dim = 0;
    const auto [end, problem] = std::from_chars(part.data(), part.data() + part.size(), dim);
    if (problem != std::errc() || end != part.data() + part.size() || dim < 1) {
      return wrong(quoted(part) + " in " + quoted(text) + " is no dimension of 1 or more");
    }
    if (!Shape::fits(out.rank() + 1)) return wrong(quoted(text) + " has too many dimensions");
    out.push_back(dim);
  }
  if (!out.element_count()) return wrong(quoted(text) + " has too many elements");
  return out;
}

Status read_warmup_shape(std::string_view value, Config& c) {
  if (value.find('=') == std::string_view::npos) {
    TAUTO_ASSIGN_OR_RETURN(c.warmup_shape, parse_shape(trimmed(value)));
    return Unit{};
  }
  for (const auto part : split(value, ';')) {
    const auto equals = part.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      return wrong(quoted(part) + " is no pair like ids=[128]");
    }
    TAUTO_ASSIGN_OR_RETURN(const auto shape, parse_shape(trimmed(part.substr(equals + 1))));
    c.warmup_shapes[std::string(trimmed(part.substr(0, equals)))] = shape;
  }
  return Unit{};
}

using Reader = Status (*)(std::string_view value, Config& config);
struct Entry {
  TautoKey key;
  Reader read;  // nullptr: passed on to the engine
};

// In the order in which they are applied: what depends on another key comes after it.
constexpr std::array kEntries = {
    Entry{{"tauto.policy", "direct|eager|fixed|triton", "how requests become batches"},
          read_policy},
    Entry{{"tauto.deadline", "duration", "each request's default deadline"}, read_deadline},
    Entry{{"tauto.hold_max", "duration", "longest a request waits for company"}, read_hold_max},
    Entry{{"tauto.fixed_rows", "1..max_batch_size", "rows that policy fixed waits for"},
          read_fixed_rows},
    Entry{{"tauto.queue_depth", "1..10000000", "requests waiting before new ones are shed"},
          read_queue_depth},
    Entry{{"tauto.on_late", "reject|finish", "what a running request gets at its deadline"},
          read_on_late},
    Entry{{"tauto.warmup_shape", "[d,..] or input=[d,..];..",
           "dims for warm-up where the config leaves some free, without the batch dimension"},
          read_warmup_shape},
    Entry{{"tauto.threads", "1..1024", "threads of one instance"}, read_threads},
    Entry{{"tauto.spin", "true|false", "threads may spin between operators"}, read_spin},
    Entry{{"tauto.label_names", "name,name", "labels that requests may carry"}, read_label_names},
    Entry{{"tauto.label_values_max", "1..1000", "distinct values a label; more are \"other\""},
          read_label_values_max},
    Entry{{"tauto.synthetic.*", "see the engine", "settings of the synthetic engine"}, nullptr},
};

constexpr auto kKeys = [] {
  std::array<TautoKey, kEntries.size()> out{};
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = kEntries[i].key;
  return out;
}();

constexpr std::string_view kPassed = "tauto.synthetic.";

bool known(std::string_view name) {
  if (name.starts_with(kPassed)) return true;
  return std::any_of(kKeys.begin(), kKeys.end(), [&](const auto& k) { return k.name == name; });
}

Error unknown_key(std::string_view name) {
  std::array<std::string_view, kKeys.size()> names;
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = kKeys[i].name;
  const auto near = nearest_word(name, names);
  std::string message = "is no setting of this server";
  if (!near.empty()) message += "; did you mean " + quoted(near) + "?";
  return wrong(message);
}

}  // namespace

std::span<const TautoKey> tauto_keys() { return kKeys; }

std::optional<KeyError> apply_tauto_keys(Config& config) {
  for (const auto& [key, value] : config.parameters) {
    if (key.starts_with("tauto.") && !known(key)) return KeyError{key, unknown_key(key)};
  }
  for (const auto& entry : kEntries) {
    if (entry.read == nullptr) continue;
    const std::string key(entry.key.name);
    const auto it = config.parameters.find(key);
    if (it == config.parameters.end()) continue;
    auto status = entry.read(it->second, config);
    if (!status.ok()) return KeyError{key, std::move(status).error()};
  }
  set_policy(config, config.scheduling.policy);
  if (config.objective && !config.parameters.contains("tauto.policy")) {
    config.advisories.push_back("tauto.deadline: policy rollout comes later; policy " +
                                std::string(policy_name(config.scheduling.policy)) +
                                " is used, deadlines are kept");
  }
  return std::nullopt;
}

Result<PolicyKind> policy_from_name(std::string_view name) {
  std::array<std::string_view, kPolicies.size()> names;
  for (std::size_t i = 0; i < names.size(); ++i) {
    names[i] = kPolicies[i].first;
    if (names[i] == name) return kPolicies[i].second;
  }
  if (name == "rollout") {
    return Error{Code::kUnimplemented, "not supported yet: policy \"rollout\""};
  }
  const auto near = nearest_word(name, names);
  return wrong(quoted(name) + " is no policy: direct, eager, fixed or triton" +
               (near.empty() ? "" : "; did you mean " + quoted(near) + "?"));
}

std::string_view policy_name(PolicyKind kind) {
  for (const auto& [name, value] : kPolicies) {
    if (value == kind) return name;
  }
  return "<invalid>";
}

void set_policy(Config& config, PolicyKind kind) {
  auto& s = config.scheduling;
  s.policy = kind;
  if (kind == PolicyKind::kFixed && s.rows_fixed == 0) s.rows_fixed = s.rows_max;
  if (kind == PolicyKind::kTriton && s.rows_preferred.empty()) {
    s.rows_preferred.push_back(s.rows_max);
  }
}

}  // namespace tauto::model
