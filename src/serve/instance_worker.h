#pragma once
// The thread of one engine instance: waits for a batch, runs it, tells the scheduler, and takes its
// next batch in the same step.

#include <thread>

#include "base/mutex.h"
#include "engine/engine.h"
#include "serve/request.h"

namespace tauto::serve {

class DeviceGroup;

class InstanceWorker {
 public:
  InstanceWorker(DeviceGroup& group, ModelHost& model, engine::Instance& instance);
  /// Lets the batch that was given end, then joins the thread.
  ~InstanceWorker();

  /// Any thread. Requires: the scheduler has dispatched `batch` to this idle instance.
  void give(BatchRun& batch);
  /// For a loop thread that runs a batch itself while this thread has none.
  engine::Instance& instance() { return instance_; }

 private:
  void run();

  DeviceGroup& group_;
  engine::Instance& instance_;
  Mutex mutex_;
  CondVar given_;
  BatchRun* next_ TAUTO_GUARDED_BY(mutex_) = nullptr;
  bool stopping_ TAUTO_GUARDED_BY(mutex_) = false;
  std::jthread thread_;
};

}  // namespace tauto::serve
