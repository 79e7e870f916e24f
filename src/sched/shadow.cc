#include "sched/shadow.h"

#include <algorithm>
#include <tuple>
#include <variant>

namespace tauto::sched {

void Shadow::pass_time(Instant now) {
  for (auto& [id, r] : requests_) {
    if (r.waiting() && models_.at(r.asked.model).holding) r.hold += now - now_;
  }
  now_ = now;
}

const QueuePolicy& Shadow::policy_of(const Model& model, std::uint32_t level) const {
  const QueuePolicy* found = &model.settings.queue_default;
  for (const auto& [priority, policy] : model.settings.queue_by_priority) {
    if (priority == level) found = &policy;
  }
  return *found;
}

std::uint32_t Shadow::level_of(const Model& model, std::uint32_t priority) const {
  const std::uint32_t levels = model.settings.priority_levels;
  if (levels == 0) return 1;
  return priority == 0 || priority > levels ? model.settings.priority_default : priority;
}

std::optional<Instant> Shadow::due(const Request& r) const {
  std::optional<Instant> at = r.asked.deadline;
  if (!r.waiting() && !models_.at(r.asked.model).settings.late_is_error) at.reset();
  if (r.state == Request::kFresh && r.timeout && (!at || r.arrival + *r.timeout < *at)) {
    at = r.arrival + *r.timeout;
  }
  return at;
}

void Shadow::expire() {
  while (true) {
    std::optional<std::tuple<Instant, std::uint64_t, std::uint64_t>> first;
    for (const auto& [id, r] : requests_) {
      const auto at = due(r);
      if (at && *at <= now_ && (!first || std::tuple(*at, r.seq, id) < *first)) {
        first = {*at, r.seq, id};
      }
    }
    if (!first) return;
    const std::uint64_t id = std::get<2>(*first);
    Request& r = requests_.at(id);
    const QueuePolicy& policy = policy_of(models_.at(r.asked.model), r.level);
    if (r.asked.deadline == std::get<0>(*first)) {
      end(id, AnswerKind::kExpired);
    } else if (policy.timeout_action == TimeoutAction::kReject) {
      end(id, AnswerKind::kQueueTimeout);
    } else {
      r.state = Request::kDelayed;
      r.rank = ++rank_;
    }
  }
}

void Shadow::end(std::uint64_t id, AnswerKind kind) {
  const Request r = requests_.at(id);
  Answer a{r.asked.id, kind, r.waiting() ? now_ - r.arrival : r.waited, r.hold, {}, {}, {}};
  if (kind == AnswerKind::kExpired) a.limit = *r.asked.deadline - r.arrival;
  if (kind == AnswerKind::kQueueTimeout) a.limit = r.timeout;
  expected_.push_back(a);
  requests_.erase(id);
  for (auto& [instance, i] : instances_) std::erase(i.members, id);
  if (r.ordered && r.state != Request::kHeld) release(r.asked.model, r.level);
}

void Shadow::release(ModelId model, std::uint32_t level) {
  while (true) {
    const Request* first = nullptr;
    for (const auto& [id, r] : requests_) {
      if (r.ordered && r.asked.model == model && r.level == level &&
          (first == nullptr || r.seq < first->seq)) {
        first = &r;
      }
    }
    if (first == nullptr || first->state != Request::kHeld) return;
    end(first->asked.id.value, first->outcome);
  }
}

std::vector<std::uint64_t> Shadow::queue(ModelId model) const {
  std::vector<const Request*> waiting;
  for (const auto& [id, r] : requests_) {
    if (r.waiting() && r.asked.model == model) waiting.push_back(&r);
  }
  std::sort(waiting.begin(), waiting.end(), [](const Request* a, const Request* b) {
    return std::tuple(a->level, a->state, a->rank, a->seq) <
           std::tuple(b->level, b->state, b->rank, b->seq);
  });
  std::vector<std::uint64_t> ids;
  for (const Request* r : waiting) ids.push_back(r->asked.id.value);
  return ids;
}

std::size_t Shadow::active(ModelId model) const {
  std::size_t n = 0;
  for (const auto& [id, i] : instances_) n += i.model == model && !i.draining;
  return n;
}

bool Shadow::idle(ModelId model) const {
  return std::any_of(instances_.begin(), instances_.end(), [model](const auto& entry) {
    const Instance& i = entry.second;
    return i.model == model && !i.draining && !i.batch;
  });
}

void Shadow::strand(ModelId model) {
  if (!models_.at(model).retired || active(model) > 0) return;
  for (const std::uint64_t id : queue(model)) end(id, AnswerKind::kRetired);
}

void Shadow::on(const Arrive& e) {
  const Model& model = models_.at(e.model);
  Answer refusal{e.id, AnswerKind::kRetired, {}, {}, {}, {}, {}};
  const std::uint32_t level = level_of(model, e.priority);
  const QueuePolicy& policy = policy_of(model, level);
  std::uint32_t in_level = 0;
  const auto waiting = queue(e.model);
  for (const std::uint64_t id : waiting) in_level += requests_.at(id).level == level;
  const std::uint32_t level_bound = policy.queue_depth_max.value_or(0);

  if (model.retired) return expected_.push_back(refusal);
  if (e.deadline && *e.deadline <= now_) {
    refusal.kind = AnswerKind::kExpired;
    refusal.limit = Duration{};
    return expected_.push_back(refusal);
  }
  if (level_bound > 0 && in_level >= level_bound)
    refusal.depth_limit = level_bound;
  else if (waiting.size() >= model.settings.queue_depth_max)
    refusal.depth_limit = model.settings.queue_depth_max;
  if (refusal.depth_limit) {
    refusal.kind = AnswerKind::kShed;
    if (model.profiled && active(e.model) > 0) refusal.retry_after = Duration{1'000'000};
    return expected_.push_back(refusal);
  }
  Request r;
  r.asked = e;
  r.arrival = now_;
  r.seq = ++seq_;
  r.level = level;
  r.ordered = model.settings.preserve_ordering;
  if (const auto standard = policy.timeout_default; standard && *standard > Duration{}) {
    r.timeout = standard;
    const Duration asked = e.queue_timeout.value_or(Duration{});
    if (policy.timeout_override && asked > Duration{} && asked < *standard) r.timeout = asked;
  }
  requests_.emplace(e.id.value, r);
}

void Shadow::on(const Cancel& e) {
  if (requests_.contains(e.id.value)) end(e.id.value, AnswerKind::kCancelled);
}

void Shadow::on(const BatchDone& e) {
  for (auto& [id, i] : instances_) {
    if (i.batch != e.batch) continue;
    const auto kind = e.outcome == BatchOutcome::kOk ? AnswerKind::kServed : AnswerKind::kFailed;
    i.batch.reset();
    for (const std::uint64_t member : std::exchange(i.members, {})) {
      Request& r = requests_.at(member);
      if (!r.ordered) {
        end(member, kind);
        continue;
      }
      r.state = Request::kHeld;
      r.outcome = kind;
      release(r.asked.model, r.level);
    }
    return;
  }
}

void Shadow::on(const InstanceUp& e) { instances_[e.instance] = {e.model, false, {}, {}}; }

void Shadow::on(const InstanceDrain& e) {
  const auto found = instances_.find(e.instance);
  if (found == instances_.end() || found->second.draining) return;
  found->second.draining = true;
  strand(found->second.model);
}

void Shadow::on(const InstanceDown& e) {
  const auto found = instances_.find(e.instance);
  if (found == instances_.end()) return;
  on(InstanceDrain{e.instance});
  const auto members = found->second.members;
  for (const std::uint64_t id : members) end(id, AnswerKind::kLost);
  instances_.erase(found);
}

void Shadow::on(const Profile& e) { models_.at(e.model).profiled = e.service_time.known(); }

void Shadow::on(const Retire& e) {
  models_.at(e.model).retired = true;
  strand(e.model);
}

void Shadow::on(const Configure& e) {
  Model& model = models_[e.model];
  model.settings = e.settings;
  model.retired = false;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> mine;
  for (auto& [id, r] : requests_) {
    if (r.asked.model == e.model) mine.emplace_back(r.seq, id);
  }
  std::sort(mine.begin(), mine.end());
  for (const auto& [seq, id] : mine) {
    Request& r = requests_.at(id);
    r.level = level_of(model, r.asked.priority);
    r.ordered = r.ordered && model.settings.preserve_ordering;
    const auto standard = policy_of(model, r.level).timeout_default;
    if (!standard || *standard == Duration{}) {
      r.timeout.reset();
      if (r.waiting()) r.state = Request::kFresh;
    }
    r.rank = r.state == Request::kDelayed ? ++rank_ : 0;
  }
  for (const auto& [seq, id] : mine) {
    const auto found = requests_.find(id);
    if (found == requests_.end()) continue;
    const Request& r = found->second;
    if (r.state == Request::kHeld && !r.ordered)
      end(id, r.outcome);
    else if (r.waiting() && r.asked.rows > model.settings.rows_max)
      end(id, AnswerKind::kRetired);
  }
  for (std::uint32_t level = 1; level <= std::max(1u, e.settings.priority_levels); ++level) {
    release(e.model, level);
  }
  expire();  // what was late and fine may be an error now
}

std::string Shadow::step(Instant now, const Event& event, const Actions& actions,
                         const Scheduler& scheduler) {
  expected_.clear();
  pass_time(now);
  expire();
  std::visit([this](const auto& e) { on(e); }, event);
  if (auto wrong = check_answers(actions); !wrong.empty()) return wrong;
  for (const auto& dispatch : actions.dispatches) {
    if (auto wrong = take(dispatch, actions); !wrong.empty()) return wrong;
  }
  for (auto& [id, model] : models_) model.holding = idle(id) && !queue(id).empty();
  return check_rest(scheduler);
}

}  // namespace tauto::sched
