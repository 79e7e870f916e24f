#pragma once
// The models that share one set of cores (or one GPU), their scheduler and the threads that run
// batches. One mutex guards the scheduler: whoever brings an event runs the step under it and
// carries the actions out after releasing it. There is no scheduler thread.

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/time.h"
#include "sched/scheduler.h"
#include "serve/loop_context.h"
#include "serve/request.h"

namespace tauto::serve {

class ModelHost;
class InstanceWorker;

class DeviceGroup {
 public:
  explicit DeviceGroup(const TimeSource& clock);
  /// Requires: stop() before, when anything was added.
  ~DeviceGroup();

  /// Cancels what is still open (each request gets its kCancelled), waits for the batches that run,
  /// joins all threads. The loops must not be running any more; run what was posted to them
  /// afterwards. Owner's thread.
  void stop();

  /// Adds a loaded model: its settings, l(b) and instances. Any thread, before or while serving.
  void add_model(ModelHost& model);
  /// Refuses further requests of `model`.
  void retire_model(ModelHost& model);

  /// A parsed, valid request enters at `now`, just read; its answer comes by FrontEnd::answer on
  /// `here`, perhaps before this returns. Loop thread of `here`.
  void arrive(LoopContext& here, Request& request, Instant now);
  /// Its client went away; the answer kCancelled still comes. Loop thread of `here`.
  void cancel(LoopContext& here, Request& request);
  /// A member has no more use for the batch's outputs. Any thread.
  void let_go(BatchRun& batch);

  std::size_t queue_depth(const ModelHost& model) const;
  std::size_t open_requests() const;

 private:
  friend class InstanceWorker;

  /// Runs one event and resolves the actions into `work`. A `now` that was read before another
  /// thread's step counts as that step's time: the scheduler's time never goes back.
  void step(const sched::Event& event, Instant now, Work& work) TAUTO_REQUIRES(mutex_);
  void resolve_dispatch(const sched::Dispatch& dispatch, Work& work) TAUTO_REQUIRES(mutex_);
  BatchRun& take_batch() TAUTO_REQUIRES(mutex_);
  /// Wakes the timer thread when the scheduler must be called earlier than it sleeps for.
  void arm_timer() TAUTO_REQUIRES(mutex_);

  /// Starts batches and delivers notices. `here` is null off the loop threads.
  void carry_out(Work& work, LoopContext* here);
  void deliver(const std::vector<Notice>& notices, LoopContext* here);
  void run_batch(BatchRun& batch);
  /// Tells the scheduler that `batch` has ended.
  void finish_batch(BatchRun& batch, Work& work);
  static void run_inline(void* here);
  void run_inline_batches(LoopContext& here);
  void run_timer(const std::stop_token& stop);

  const TimeSource& clock_;
  mutable Mutex mutex_;
  sched::Scheduler scheduler_ TAUTO_GUARDED_BY(mutex_);
  sched::Actions actions_ TAUTO_GUARDED_BY(mutex_);
  Instant last_step_ TAUTO_GUARDED_BY(mutex_){};
  std::vector<Request*> slots_ TAUTO_GUARDED_BY(mutex_);  // by the low half of a RequestId
  std::vector<std::uint32_t> free_slots_ TAUTO_GUARDED_BY(mutex_);
  std::uint32_t generation_ TAUTO_GUARDED_BY(mutex_) = 0;  // the high half
  std::deque<BatchRun> batches_ TAUTO_GUARDED_BY(mutex_);
  std::vector<BatchRun*> free_batches_ TAUTO_GUARDED_BY(mutex_);
  std::vector<ModelHost*> models_ TAUTO_GUARDED_BY(mutex_);  // by ModelId
  std::vector<std::unique_ptr<InstanceWorker>> workers_;     // by InstanceId; grows under mutex_
  std::optional<Instant> armed_ TAUTO_GUARDED_BY(mutex_);    // the timer thread sleeps until
  CondVar timer_changed_;
  bool stopping_ TAUTO_GUARDED_BY(mutex_) = false;
  std::jthread timer_;
};

}  // namespace tauto::serve
