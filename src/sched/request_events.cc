#include <algorithm>

#include "base/check.h"
#include "sched/state.h"

namespace tauto::sched {
namespace {

/// Triton's rule: a request may ask for less than the level's timeout where that is allowed; where
/// the level has none, its wish has no effect.
std::optional<Duration> timeout_in_force(const QueuePolicy& policy, std::optional<Duration> asked) {
  if (!has_timeout(policy)) return std::nullopt;
  const Duration standard = *policy.timeout_default;
  if (policy.timeout_override && asked && *asked > Duration{} && *asked < standard) return asked;
  return standard;
}

}  // namespace

void Scheduler::State::apply(const Arrive& e) {
  const std::uint32_t index = model_index.find(e.model.value);
  TAUTO_CHECK(index != IdMap::kAbsent && requests.find(e.id) == kNoSlot);
  const Model& model = models[index];
  if (model.retired) return refuse(e, AnswerKind::kRetired);
  if (e.deadline && *e.deadline <= now) return refuse(e, AnswerKind::kExpired);
  TAUTO_CHECK(e.rows >= 1 && e.rows <= model.settings.rows_max);
  const std::uint32_t level = model.queue.level_of(e.priority);
  if (full_bound(model, level)) return refuse(e, AnswerKind::kShed);

  const Slot slot = requests.add(e.id);
  Request& r = requests[slot];
  r.seq = seq_next++;
  r.compat_key = e.compat_key;
  r.elements_per_row = e.elements_per_row;
  r.arrival = now;
  if (e.deadline) r.deadline = std::min(*e.deadline, Instant{kTimeMax});
  r.queue_timeout = timeout_in_force(model.queue.level(level).policy, e.queue_timeout);
  r.hold = model.hold.at(now);
  r.model = index;
  r.rows = e.rows;
  r.priority = e.priority;
  r.level = level;
  r.value = e.value;
  r.accuracy_min_ppm = e.accuracy_min_ppm;
  r.state = RequestState::kFresh;
  r.ordered = model.settings.preserve_ordering;
  file(slot);
}

/// Puts a waiting request where its state says.
void Scheduler::State::file(Slot slot) {
  const Request& r = requests[slot];
  Model& model = models[r.model];
  if (r.waiting()) model.queue.push(requests, slot);
  if (r.ordered) requests.push_back(model.queue.level(r.level).order, slot, &Request::order);
  set_time(slot);
  touch(r.model);
}

/// Arms what is due first for the request: one time a slot is enough.
void Scheduler::State::set_time(Slot slot) {
  const Request& r = requests[slot];
  std::optional<Instant> at = r.deadline;
  if (!r.waiting() && !models[r.model].settings.late_is_error) at.reset();
  if (r.state == RequestState::kFresh && r.queue_timeout) {
    const Instant dispatch_by = r.arrival + *r.queue_timeout;
    if (!at || dispatch_by < *at) at = dispatch_by;
  }
  if (at) {
    request_times.set(slot, *at, r.seq);
  } else {
    request_times.erase(slot);
  }
}

/// The bound that a newcomer at `level` would break.
std::optional<std::uint32_t> Scheduler::State::full_bound(const Model& model,
                                                          std::uint32_t level) const {
  const auto& filed = model.queue.level(level);
  const std::uint32_t of_level = filed.policy.queue_depth_max.value_or(0);  // Triton's 0: no bound
  if (of_level != 0 && filed.size() >= of_level) return of_level;
  if (model.queue.size() >= model.settings.queue_depth_max) return model.settings.queue_depth_max;
  return std::nullopt;
}

void Scheduler::State::refuse(const Arrive& e, AnswerKind kind) {
  Answer answer{e.id, kind, {}, {}, {}, {}, {}};
  const Model& model = models[model_index.find(e.model.value)];
  if (kind == AnswerKind::kExpired) answer.limit = Duration{};
  if (kind == AnswerKind::kShed) {
    answer.depth_limit = full_bound(model, model.queue.level_of(e.priority));
    answer.retry_after = drain_time(model);
  }
  actions->answers.push_back(answer);
}

void Scheduler::State::apply(const Cancel& e) {
  if (const Slot slot = requests.find(e.id); slot != kNoSlot) leave(slot, AnswerKind::kCancelled);
}

void Scheduler::State::apply(const BatchDone& e) {
  const std::uint32_t at = batch_index.find(e.batch.value);
  if (at == IdMap::kAbsent) return;
  batch_index.erase(e.batch.value);
  Instance& instance = instances[at];
  const AnswerKind kind =
      e.outcome == BatchOutcome::kOk ? AnswerKind::kServed : AnswerKind::kFailed;
  while (instance.members.count > 0) {
    const Slot slot = instance.members.head;
    Request& r = requests[slot];
    if (!r.ordered) {
      leave(slot, kind);
      continue;
    }
    requests.unlink(instance.members, slot, &Request::place);
    r.state = RequestState::kHeld;
    r.outcome = kind;
    release_in_order(r.model, r.level);
  }
  instance.busy = false;
  if (!instance.draining) ++models[instance.model].idle;
  touch(instance.model);
}

Answer Scheduler::State::describe(const Request& r, AnswerKind kind) const {
  Answer answer{r.id, kind, r.waited, r.hold, {}, {}, {}};
  if (r.waiting()) {
    answer.waited = now - r.arrival;
    answer.hold = models[r.model].hold.at(now) - r.hold;
  }
  if (kind == AnswerKind::kExpired) answer.limit = *r.deadline - r.arrival;
  if (kind == AnswerKind::kQueueTimeout) answer.limit = r.queue_timeout;
  return answer;
}

/// Answers the request and forgets it, wherever it is.
void Scheduler::State::leave(Slot slot, AnswerKind kind) {
  const Request r = requests[slot];
  Model& model = models[r.model];
  actions->answers.push_back(describe(r, kind));
  if (r.waiting()) {
    model.policy->on_leave(requests, slot);
    model.queue.remove(requests, slot);
    touch(r.model);
  } else if (r.state == RequestState::kRunning) {
    requests.unlink(instances[r.instance].members, slot, &Request::place);
  }
  if (r.ordered) requests.unlink(model.queue.level(r.level).order, slot, &Request::order);
  request_times.erase(slot);
  requests.remove(slot);
  if (r.ordered && r.state != RequestState::kHeld) release_in_order(r.model, r.level);
}

/// Answers held requests up to the first one that still waits or runs. Only answers of batches are
/// held: one that is refused, late or cancelled has nothing to gain from waiting for its elders.
void Scheduler::State::release_in_order(std::uint32_t model, std::uint32_t level) {
  const SlotList& order = models[model].queue.level(level).order;
  while (order.count > 0 && requests[order.head].state == RequestState::kHeld) {
    leave(order.head, requests[order.head].outcome);
  }
}

}  // namespace tauto::sched
