// The part of Shadow that compares: answers, batches, wakes.

#include <algorithm>
#include <utility>

#include "sched/shadow.h"

namespace tauto::sched {
namespace {

std::string text(std::optional<Duration> d) { return d ? std::to_string(to_ns(*d)) : "-"; }

std::string text(const Answer& a) {
  return std::to_string(a.id.value) + " " + std::string(answer_kind_name(a.kind)) + " waited " +
         text(a.waited) + " hold " + text(a.hold) + " limit " + text(a.limit) + " depth " +
         (a.depth_limit ? std::to_string(*a.depth_limit) : "-");
}

}  // namespace

std::string action_text(const Actions& actions) {
  std::string out;
  for (const auto& a : actions.answers) out += text(a) + " retry " + text(a.retry_after) + "\n";
  for (const auto& d : actions.dispatches) {
    out += "batch " + std::to_string(d.batch.value) + " on " + std::to_string(d.instance.value) +
           " model " + std::to_string(d.model.value) + " rows " + std::to_string(d.rows) + " " +
           std::string(dispatch_reason_name(d.reason));
    for (const auto& m : actions.members_of(d)) {
      out += " " + std::to_string(m.id.value) + ":" + text(m.hold);
    }
    out += "\n";
  }
  return out;
}

std::string Shadow::check_answers(const Actions& actions) const {
  for (std::size_t i = 0; i < std::max(expected_.size(), actions.answers.size()); ++i) {
    if (i >= expected_.size()) return "unexpected answer " + text(actions.answers[i]);
    if (i >= actions.answers.size()) return "missing answer " + text(expected_[i]);
    const Answer& a = actions.answers[i];
    if (text(a) != text(expected_[i])) {
      return "answer " + text(a) + " instead of " + text(expected_[i]);
    }
    // Its size is the scenarios' business; here only that it exists when it can, and is 1 ms.
    if (a.retry_after.has_value() != expected_[i].retry_after.has_value() ||
        (a.retry_after && *a.retry_after < *expected_[i].retry_after)) {
      return "retry_after of " + text(a);
    }
  }
  return {};
}

/// I2, I3, I7, I8: the batch is the head of the queue, alike, small enough, on an idle instance.
std::string Shadow::take(const Dispatch& d, const Actions& actions) {
  const std::string name = "batch " + std::to_string(d.batch.value);
  if (d.batch <= last_batch_) return name + " is no new id";
  last_batch_ = d.batch;
  const auto at = instances_.find(d.instance);
  if (at == instances_.end() || at->second.draining || at->second.batch ||
      at->second.model != d.model) {
    return name + ": instance " + std::to_string(d.instance.value) + " cannot take it";
  }
  for (const auto& [id, i] : instances_) {
    if (id < d.instance && i.model == d.model && !i.draining && !i.batch) {
      return name + ": a lower instance was idle";
    }
  }
  const auto waiting = queue(d.model);
  const auto members = actions.members_of(d);
  if (members.empty() || members.size() > waiting.size()) return name + ": member count";
  const ModelSettings& settings = models_.at(d.model).settings;
  std::uint32_t rows = 0;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (members[i].id.value != waiting[i]) return name + " is not the head of the queue";
    Request& r = requests_.at(waiting[i]);
    if (r.asked.compat_key != requests_.at(waiting[0]).asked.compat_key) {
      return name + " mixes compat keys";
    }
    if (r.asked.deadline && *r.asked.deadline <= now_) return name + " has an expired member";
    rows += r.asked.rows;
    r.waited = now_ - r.arrival;
    if (members[i].hold != r.hold) return name + ": hold of " + std::to_string(waiting[i]);
    r.state = Request::kRunning;
    at->second.members.push_back(waiting[i]);
  }
  at->second.batch = d.batch;
  if (rows != d.rows || rows > settings.rows_max) return name + ": rows";
  if (settings.policy == PolicyKind::kDirect && members.size() != 1) return name + ": not direct";
  if (settings.policy == PolicyKind::kFixed && members.size() > 1 && rows > settings.rows_fixed) {
    return name + ": above the fixed size";
  }
  return {};
}

/// I10: who lets an idle instance wait beside a queue must have a reason and an end to it.
std::string Shadow::check_patience(ModelId id, const Model& model,
                                   std::optional<Instant>& wake) const {
  const ModelSettings& s = model.settings;
  std::uint64_t enough = 0;
  if (s.policy == PolicyKind::kFixed) enough = s.rows_fixed;
  if (s.policy == PolicyKind::kTriton) {
    enough = s.rows_preferred.empty() ? s.rows_max : s.rows_preferred.back();
  }
  const auto waiting = queue(id);
  std::uint64_t rows = 0;
  Instant oldest = Instant::max();
  for (const std::uint64_t r : waiting) {
    const Request& request = requests_.at(r);
    rows += request.asked.rows;
    oldest = std::min(oldest, request.arrival);
    if (request.asked.compat_key != requests_.at(waiting[0]).asked.compat_key) rows += enough;
  }
  if (rows >= enough) return "idle beside a queue that is enough for a batch";
  if (oldest + s.hold_max <= now_) return "idle beside a request held too long";
  wake = std::min(wake.value_or(Instant::max()), oldest + s.hold_max);
  return {};
}

/// I1, I10, I11: counts, and the wake to the nanosecond.
std::string Shadow::check_rest(const Scheduler& scheduler) const {
  if (scheduler.open_requests() != requests_.size()) return "open_requests";
  std::optional<Instant> wake;
  for (const auto& [id, r] : requests_) {
    if (const auto at = due(r); at && (!wake || *at < *wake)) wake = at;
  }
  bool forming_ahead = false;
  for (const auto& [id, model] : models_) {
    const auto waiting = queue(id);
    if (scheduler.queue_depth(id) != waiting.size()) return "queue_depth";
    if (model.holding) {
      if (auto wrong = check_patience(id, model, wake); !wrong.empty()) return wrong;
    } else if (!waiting.empty() && model.settings.policy == PolicyKind::kTriton) {
      forming_ahead = true;  // its payload may want to be asked while all instances are busy
    }
  }
  const auto actual = scheduler.next_wake();
  if (actual && *actual <= now_) return "a wake that is not ahead";
  if (wake && (!actual || *actual > *wake)) return "no wake for what is due";
  if (!forming_ahead && actual != wake) return "a wake for nothing";
  return {};
}

}  // namespace tauto::sched
