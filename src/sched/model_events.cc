#include <algorithm>
#include <utility>

#include "base/check.h"
#include "sched/state.h"

namespace tauto::sched {

bool valid_settings(const ModelSettings& s) {
  const auto& preferred = s.rows_preferred;
  if (s.rows_max < 1 || s.hold_max < Duration{} || s.queue_depth_max < 1) return false;
  if (s.policy == PolicyKind::kFixed && (s.rows_fixed < 1 || s.rows_fixed > s.rows_max)) {
    return false;
  }
  if (!preferred.empty() && (preferred.front() < 1 || preferred.back() > s.rows_max)) return false;
  if (!std::is_sorted(preferred.begin(), preferred.end())) return false;
  if (s.priority_levels > kPriorityLevelsMax) return false;
  if (s.priority_levels > 0 && (s.priority_default < 1 || s.priority_default > s.priority_levels)) {
    return false;
  }
  return std::all_of(s.queue_by_priority.begin(), s.queue_by_priority.end(),
                     [&s](const auto& q) { return q.first >= 1 && q.first <= s.priority_levels; });
}

ModelSettings clamped(ModelSettings s) {
  const auto clamp = [](QueuePolicy& policy) {
    if (policy.timeout_default) {
      policy.timeout_default = std::clamp(*policy.timeout_default, Duration{}, kTimeMax);
    }
  };
  s.hold_max = std::min(s.hold_max, kTimeMax);
  clamp(s.queue_default);
  for (auto& [priority, policy] : s.queue_by_priority) clamp(policy);
  return s;
}

void Scheduler::State::apply(const Configure& e) {
  TAUTO_CHECK(valid_settings(e.settings));
  std::uint32_t index = model_index.find(e.model.value);
  if (index == IdMap::kAbsent) {
    index = static_cast<std::uint32_t>(models.size());
    models.emplace_back();
    models.back().id = e.model;
    model_index.insert(e.model.value, index);
  }
  models[index].retired = false;
  refile(index, clamped(e.settings));
  expire_due();  // late_is_error may have been switched on under requests that are late
}

/// Files the open requests of a model anew, in arrival order, under other settings. A queue timeout
/// stays as it was on arrival while its level has one at all; else those delayed by it return to
/// their place. Rare, so it may look at every slot and sort.
void Scheduler::State::refile(std::uint32_t index, ModelSettings settings) {
  Model& model = models[index];
  std::vector<Slot> mine;
  for (Slot slot = 0; slot < requests.slot_count(); ++slot) {
    const Request& r = requests[slot];
    if (r.state != RequestState::kFree && r.model == index) mine.push_back(slot);
  }
  std::sort(mine.begin(), mine.end(),
            [this](Slot a, Slot b) { return requests[a].seq < requests[b].seq; });
  for (const Slot slot : mine) {
    Request& r = requests[slot];
    if (r.waiting()) model.queue.remove(requests, slot);
    if (r.ordered) requests.unlink(model.queue.level(r.level).order, slot, &Request::order);
    r.ordered = r.ordered && settings.preserve_ordering;
  }
  model.queue.configure(settings);
  model.settings = std::move(settings);
  model.policy = make_policy(model.settings.policy);
  for (const Slot slot : mine) {
    Request& r = requests[slot];
    r.level = model.queue.level_of(r.priority);
    if (!has_timeout(model.queue.level(r.level).policy)) {
      r.queue_timeout.reset();
      if (r.waiting()) r.state = RequestState::kFresh;
    }
    file(slot);
  }
  for (const Slot slot : mine) {
    const Request& r = requests[slot];
    if (r.state == RequestState::kHeld && !r.ordered) leave(slot, r.outcome);
    if (r.waiting() && r.rows > model.settings.rows_max) leave(slot, AnswerKind::kRetired);
  }
  for (std::uint32_t level = 0; level < model.queue.level_count(); ++level) {
    release_in_order(index, level);
  }
  touch(index);
}

void Scheduler::State::apply(const Profile& e) {
  const std::uint32_t index = model_index.find(e.model.value);
  TAUTO_CHECK(index != IdMap::kAbsent);
  models[index].service_time = e.service_time;
}

void Scheduler::State::apply(const Retire& e) {
  const std::uint32_t index = model_index.find(e.model.value);
  TAUTO_CHECK(index != IdMap::kAbsent);
  models[index].retired = true;
  give_up_if_stranded(index);
}

/// A retired model without an instance to come will never serve what waits for it.
void Scheduler::State::give_up_if_stranded(std::uint32_t index) {
  Model& model = models[index];
  if (!model.retired || model.active > 0) return;
  while (model.queue.size() > 0) leave(model.queue.first(), AnswerKind::kRetired);
}

void Scheduler::State::apply(const InstanceUp& e) {
  const std::uint32_t model = model_index.find(e.model.value);
  TAUTO_CHECK(model != IdMap::kAbsent);
  add_instance({e.instance, model, {}, true, false, false, {}});
}

void Scheduler::State::add_instance(const Instance& instance) {
  const auto unused = std::find_if(instances.begin(), instances.end(),
                                   [](const Instance& i) { return !i.present; });
  const auto at = static_cast<std::uint32_t>(unused - instances.begin());
  if (unused == instances.end()) {
    instances.push_back(instance);
  } else {
    *unused = instance;
  }
  instance_index.insert(instance.id.value, at);
  Model& model = models[instance.model];
  const auto after =
      std::upper_bound(model.instances.begin(), model.instances.end(), instance.id,
                       [this](InstanceId id, std::uint32_t i) { return id < instances[i].id; });
  model.instances.insert(after, at);
  if (!instance.draining) {
    ++model.active;
    if (!instance.busy) ++model.idle;
  }
  touch(instance.model);
}

void Scheduler::State::apply(const InstanceDrain& e) {
  const std::uint32_t at = instance_index.find(e.instance.value);
  if (at == IdMap::kAbsent || instances[at].draining) return;
  Instance& instance = instances[at];
  Model& model = models[instance.model];
  instance.draining = true;
  --model.active;
  if (!instance.busy) --model.idle;
  touch(instance.model);
  give_up_if_stranded(instance.model);
}

void Scheduler::State::apply(const InstanceDown& e) {
  const std::uint32_t at = instance_index.find(e.instance.value);
  if (at == IdMap::kAbsent) return;
  apply(InstanceDrain{e.instance});
  Instance& instance = instances[at];
  while (instance.members.count > 0) leave(instance.members.head, AnswerKind::kLost);
  if (instance.busy) batch_index.erase(instance.batch.value);
  std::erase(models[instance.model].instances, at);
  instance_index.erase(e.instance.value);
  touch(instance.model);
  instance = {};
}

}  // namespace tauto::sched
