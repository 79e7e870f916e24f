#include "sched/scheduler.h"

#include <algorithm>
#include <variant>

#include "base/check.h"
#include "sched/state.h"

namespace tauto::sched {

Scheduler::Scheduler() : state_(std::make_unique<State>()) {}
Scheduler::~Scheduler() = default;
Scheduler::Scheduler(Scheduler&&) noexcept = default;
Scheduler& Scheduler::operator=(Scheduler&&) noexcept = default;

void Scheduler::step(Instant now, const Event& event, Actions& out) {
  State& s = *state_;
  TAUTO_CHECK(now >= s.now && now < Instant{kTimeMax});
  s.now = now;
  s.actions = &out;
  s.expire_due();
  std::visit([&s](const auto& e) { s.apply(e); }, event);
  s.settle_touched();
  s.actions = nullptr;
}

std::optional<Instant> Scheduler::next_wake() const {
  const State& s = *state_;
  std::optional<Instant> wake;
  for (const TimeHeap* heap : {&s.request_times, &s.model_times}) {
    if (!heap->empty() && (!wake || heap->top().at < *wake)) wake = heap->top().at;
  }
  return wake;
}

std::size_t Scheduler::queue_depth(ModelId model) const {
  const std::uint32_t index = state_->model_index.find(model.value);
  return index == IdMap::kAbsent ? 0 : state_->models[index].queue.size();
}

std::size_t Scheduler::open_requests() const { return state_->requests.size(); }

void Scheduler::State::expire_due() {
  while (!request_times.empty() && request_times.top().at <= now) {
    const Slot slot = request_times.top().slot;
    Request& r = requests[slot];
    if (r.deadline && *r.deadline == request_times.top().at) {
      leave(slot, AnswerKind::kExpired);
    } else if (models[r.model].queue.level(r.level).policy.timeout_action ==
               TimeoutAction::kReject) {
      leave(slot, AnswerKind::kQueueTimeout);
    } else {
      touch(r.model);
      Model& model = models[r.model];
      model.policy->on_leave(requests, slot);
      model.queue.remove(requests, slot);
      r.state = RequestState::kDelayed;
      model.queue.push(requests, slot);
      set_time(slot);
    }
  }
  while (!model_times.empty() && model_times.top().at <= now) {
    const std::uint32_t model = model_times.top().slot;
    model_times.erase(model);
    touch(model);
  }
}

void Scheduler::State::touch(std::uint32_t model) {
  if (models[model].touched) return;
  models[model].touched = true;
  touched.push_back(model);
}

void Scheduler::State::settle_touched() {
  // Models own their instances, so the order cannot matter yet; the rollout policy will weigh the
  // models that share cores against each other here.
  for (const std::uint32_t index : touched) {
    decide(index);
    Model& model = models[index];
    model.hold.set(model.idle > 0 && model.queue.size() > 0, now);
    model.touched = false;
  }
  touched.clear();
}

void Scheduler::State::decide(std::uint32_t index) {
  Model& model = models[index];
  while (model.queue.size() > 0) {
    picked.clear();
    const PolicyView view{model.settings, model.queue, requests, now, model.idle > 0};
    const Choice choice = model.policy->choose(view, picked);
    if (!picked.empty()) {
      dispatch(index, choice.reason);
      continue;
    }
    if (!choice.wake) break;
    TAUTO_CHECK(*choice.wake > now);
    model_times.set(index, std::min(*choice.wake, Instant{kTimeMax}), index);
    return;
  }
  model_times.erase(index);
}

std::uint32_t Scheduler::State::idle_instance(const Model& model) const {
  // The lowest id: at low load the others stay cold together.
  for (const std::uint32_t index : model.instances) {
    if (!instances[index].busy && !instances[index].draining) return index;
  }
  TAUTO_CHECK(false);
  return 0;
}

void Scheduler::State::dispatch(std::uint32_t index, DispatchReason reason) {
  Model& model = models[index];
  const std::uint32_t at = idle_instance(model);
  Instance& instance = instances[at];
  const BatchId batch{batch_next++};
  instance.batch = batch;
  instance.busy = true;
  --model.idle;
  batch_index.insert(batch.value, at);

  Dispatch action{batch,         instance.id, model.id, reason, 0, actions->members.size(),
                  picked.size(), {}};
  for (const Slot slot : picked) {
    Request& r = requests[slot];
    model.queue.remove(requests, slot);
    r.state = RequestState::kRunning;
    r.instance = at;
    r.waited = now - r.arrival;
    r.hold = model.hold.at(now) - r.hold;
    requests.push_back(instance.members, slot, &Request::place);
    set_time(slot);
    action.rows += r.rows;
    actions->members.push_back({r.id, r.hold});
  }
  actions->dispatches.push_back(action);
}

std::string_view dispatch_reason_name(DispatchReason reason) {
  switch (reason) {
    case DispatchReason::kIdle:
      return "idle";
    case DispatchReason::kFull:
      return "full";
    case DispatchReason::kPreferred:
      return "preferred";
    case DispatchReason::kFixedSize:
      return "fixed_size";
    case DispatchReason::kHoldElapsed:
      return "hold_elapsed";
    case DispatchReason::kIncompatible:
      return "incompatible";
  }
  return "?";
}

std::string_view answer_kind_name(AnswerKind kind) {
  switch (kind) {
    case AnswerKind::kServed:
      return "served";
    case AnswerKind::kFailed:
      return "failed";
    case AnswerKind::kExpired:
      return "expired";
    case AnswerKind::kQueueTimeout:
      return "queue_timeout";
    case AnswerKind::kShed:
      return "shed";
    case AnswerKind::kCancelled:
      return "cancelled";
    case AnswerKind::kLost:
      return "lost";
    case AnswerKind::kRetired:
      return "retired";
  }
  return "?";
}

}  // namespace tauto::sched
