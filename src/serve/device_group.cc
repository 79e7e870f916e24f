#include "serve/device_group.h"

#include <algorithm>
#include <chrono>

#include "serve/instance_worker.h"
#include "serve/journey_switch.h"
#include "serve/model_host.h"

namespace tauto::serve {
namespace {

/// A loop thread runs batches itself for this long at most before it looks at its sockets again.
constexpr Duration kInlineBudget{200'000};

constexpr std::uint32_t slot_of(RequestId id) { return static_cast<std::uint32_t>(id.value); }

std::chrono::steady_clock::time_point steady(Instant t) {
  return std::chrono::steady_clock::time_point{t.time_since_epoch()};
}

}  // namespace

DeviceGroup::DeviceGroup(const TimeSource& clock)
    : clock_(clock), timer_([this](const std::stop_token& stop) { run_timer(stop); }) {}

DeviceGroup::~DeviceGroup() { stop(); }

void DeviceGroup::stop() {
  Work work;
  {
    MutexLock lock(mutex_);
    if (stopping_) return;
    stopping_ = true;
    const Instant now = clock_.now();
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      if (slots_[i] != nullptr) step(sched::Cancel{slots_[i]->arrive.id}, now, work);
    }
  }
  carry_out(work, nullptr);
  timer_changed_.notify_all();
  timer_.join();
  workers_.clear();  // each worker's destructor lets its batch end and joins its thread
}

void DeviceGroup::add_model(ModelHost& model) {
  Work work;
  {
    MutexLock lock(mutex_);
    const Instant now = clock_.now();
    const ModelId id{static_cast<std::uint32_t>(models_.size())};
    models_.push_back(&model);
    model.join(*this, id);
    step(sched::Configure{id, model.settings()}, now, work);
    if (model.service_time().known()) step(sched::Profile{id, model.service_time()}, now, work);
    for (std::size_t i = 0; i < model.instance_count(); ++i) {
      const InstanceId instance{static_cast<std::uint32_t>(workers_.size())};
      workers_.push_back(std::make_unique<InstanceWorker>(*this, model, model.instance(i)));
      step(sched::InstanceUp{instance, id}, now, work);
    }
  }
  carry_out(work, nullptr);
}

void DeviceGroup::retire_model(ModelHost& model) {
  Work work;
  {
    MutexLock lock(mutex_);
    step(sched::Retire{model.id()}, clock_.now(), work);
  }
  carry_out(work, nullptr);
}

void DeviceGroup::arrive(LoopContext& here, Request& request, Instant now) {
  auto work = here.take_work();
  {
    MutexLock lock(mutex_);
    if (free_slots_.empty()) {
      free_slots_.push_back(static_cast<std::uint32_t>(slots_.size()));
      slots_.push_back(nullptr);
    }
    const std::uint32_t slot = free_slots_.back();
    free_slots_.pop_back();
    slots_[slot] = &request;
    request.arrive.id = RequestId{(std::uint64_t{++generation_} << 32) | slot};
    request.arrive.model = request.model->id();
    request.depth_on_arrival =
        static_cast<std::uint32_t>(scheduler_.queue_depth(request.arrive.model));
    step(request.arrive, now, *work);
  }
  carry_out(*work, &here);
  here.put_work(std::move(work));
}

void DeviceGroup::cancel(LoopContext& here, Request& request) {
  auto work = here.take_work();
  {
    MutexLock lock(mutex_);
    step(sched::Cancel{request.arrive.id}, clock_.now(), *work);
  }
  carry_out(*work, &here);
  here.put_work(std::move(work));
}

void DeviceGroup::let_go(BatchRun& batch) {
  if (batch.users.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  batch.output.keep_alive.reset();
  MutexLock lock(mutex_);
  free_batches_.push_back(&batch);
}

std::size_t DeviceGroup::queue_depth(const ModelHost& model) const {
  MutexLock lock(mutex_);
  return scheduler_.queue_depth(model.id());
}

std::size_t DeviceGroup::open_requests() const {
  MutexLock lock(mutex_);
  return scheduler_.open_requests();
}

void DeviceGroup::step(const sched::Event& event, Instant now, Work& work) {
  actions_.clear();
  last_step_ = std::max(last_step_, now);
  scheduler_.step(last_step_, event, actions_);
  for (const auto& dispatch : actions_.dispatches) resolve_dispatch(dispatch, work);
  for (const auto& answer : actions_.answers) {
    const std::uint32_t slot = slot_of(answer.id);
    Request& request = *slots_[slot];
    request.answer = answer;
    slots_[slot] = nullptr;
    free_slots_.push_back(slot);
    work.notices.push_back({&request, true, false});
  }
  arm_timer();
}

void DeviceGroup::resolve_dispatch(const sched::Dispatch& dispatch, Work& work) {
  BatchRun& batch = take_batch();
  batch.id = dispatch.batch;
  batch.worker = workers_[dispatch.instance.value].get();
  batch.instance = dispatch.instance;
  batch.model = models_[dispatch.model.value];
  batch.reason = dispatch.reason;
  batch.rows = dispatch.rows;
  batch.error.reset();
  batch.picked_up_ns.store(0, std::memory_order_relaxed);
  batch.members.clear();
  batch.items.clear();
  for (const auto& member : actions_.members_of(dispatch)) {
    Request& request = *slots_[slot_of(member.id)];
    request.batch = &batch;
    request.batch_index = static_cast<std::uint32_t>(batch.members.size());
    batch.members.push_back(&request);
    batch.items.push_back({request.arrive.rows, request.inputs});
  }
  batch.users.store(static_cast<std::uint32_t>(batch.members.size()), std::memory_order_relaxed);
  work.batches.push_back(&batch);
}

BatchRun& DeviceGroup::take_batch() {
  if (free_batches_.empty()) return batches_.emplace_back();
  BatchRun& batch = *free_batches_.back();
  free_batches_.pop_back();
  return batch;
}

void DeviceGroup::arm_timer() {
  const auto wake = scheduler_.next_wake();
  if (!wake || (armed_ && *armed_ <= *wake)) return;
  armed_ = wake;
  timer_changed_.notify_one();
}

void DeviceGroup::carry_out(Work& work, LoopContext* here) {
  for (BatchRun* batch : work.batches) {
    if (here != nullptr && batch->model->runs_inline(batch->rows)) {
      here->inline_batches.push_back(batch);
      continue;
    }
    batch->worker->give(*batch);
  }
  if (here != nullptr && !here->inline_batches.empty() && !here->inline_armed) {
    here->inline_armed = true;
    here->group = this;
    here->loop.after_drain(&DeviceGroup::run_inline, here);
  }
  deliver(work.notices, here);
}

void DeviceGroup::deliver(const std::vector<Notice>& notices, LoopContext* here) {
  // Neighbours often belong to one loop: hand over each run of them at once.
  for (std::size_t i = 0; i < notices.size();) {
    LoopContext* target = notices[i].request->loop;
    if (target == here) {
      handle_notice(notices[i++]);
      continue;
    }
    std::size_t end = i + 1;
    while (end < notices.size() && notices[end].request->loop == target) ++end;
    target->post_notices(&notices[i], end - i);
    i = end;
  }
}

void DeviceGroup::run_batch(BatchRun& batch) {
  const Instant picked_up = kJourneys ? clock_.now() : Instant{};
  batch.picked_up_ns.store(to_ns(picked_up), std::memory_order_release);
  batch.times = {picked_up, picked_up, picked_up};
  std::uint64_t wanted = 0;
  for (const Request* member : batch.members) wanted |= member->outputs_wanted;
  const engine::Batch view{batch.items, batch.rows, wanted};
  auto status = batch.worker->instance().run(view, batch.output, batch.times);
  if (!status.ok()) {
    batch.error = std::move(status).error();
    const Instant failed = clock_.now();
    batch.times.bind_end = std::min(std::max(batch.times.bind_end, picked_up), failed);
    batch.times.compute_end = batch.times.unbind_end = failed;
  }
}

void DeviceGroup::finish_batch(BatchRun& batch, Work& work) {
  const Duration took = batch.times.unbind_end - batch.picked_up();
  if (kJourneys) batch.model->batch_ended(batch.rows, batch.times, batch.picked_up(), !batch.error);
  for (Request* member : batch.members) work.notices.push_back({member, false, true});
  const auto outcome = batch.error ? sched::BatchOutcome::kFailed : sched::BatchOutcome::kOk;
  const Instant now = kJourneys ? batch.times.unbind_end : clock_.now();
  MutexLock lock(mutex_);
  step(sched::BatchDone{batch.id, took, outcome}, now, work);
}

void DeviceGroup::run_inline(void* here) {
  auto& context = *static_cast<LoopContext*>(here);
  context.group->run_inline_batches(context);
}

void DeviceGroup::run_inline_batches(LoopContext& here) {
  here.inline_armed = false;
  const Instant stop_at = clock_.now() + kInlineBudget;
  while (!here.inline_batches.empty()) {
    BatchRun& batch = *here.inline_batches.front();
    here.inline_batches.erase(here.inline_batches.begin());
    run_batch(batch);
    const Instant ended = batch.times.unbind_end;  // `batch` may be reused once it is carried out
    auto work = here.take_work();
    finish_batch(batch, *work);
    carry_out(*work, &here);
    here.put_work(std::move(work));
    if (ended >= stop_at) break;
  }
  if (!here.inline_batches.empty() && !here.inline_armed) {
    here.inline_armed = true;
    here.loop.after_drain(&DeviceGroup::run_inline, &here);
  }
}

void DeviceGroup::run_timer(const std::stop_token&) {
  Work work;
  mutex_.lock();
  while (!stopping_) {
    if (!armed_) {
      timer_changed_.wait(mutex_, [this]() TAUTO_NO_THREAD_SAFETY_ANALYSIS {
        return stopping_ || armed_.has_value();
      });
      continue;
    }
    const Instant until = *armed_;
    const bool earlier = timer_changed_.wait_until(mutex_, steady(until),
                                                   [this, until]() TAUTO_NO_THREAD_SAFETY_ANALYSIS {
                                                     return stopping_ || !armed_ || *armed_ < until;
                                                   });
    if (earlier) continue;
    armed_.reset();
    step(sched::Tick{}, clock_.now(), work);
    mutex_.unlock();
    carry_out(work, nullptr);
    work.clear();
    mutex_.lock();
  }
  mutex_.unlock();
}

}  // namespace tauto::serve
