#include "serve/instance_worker.h"

#include <pthread.h>

#include <algorithm>

#include "serve/device_group.h"
#include "serve/model_host.h"

namespace tauto::serve {

InstanceWorker::InstanceWorker(DeviceGroup& group, ModelHost& model, engine::Instance& instance)
    : group_(group), instance_(instance), thread_([this] { run(); }) {
  const std::string name = ("run " + model.name()).substr(0, 15);  // the kernel's limit
  pthread_setname_np(thread_.native_handle(), name.c_str());
}

InstanceWorker::~InstanceWorker() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  given_.notify_one();
}

void InstanceWorker::give(BatchRun& batch) {
  {
    MutexLock lock(mutex_);
    TAUTO_CHECK(next_ == nullptr);
    next_ = &batch;
  }
  given_.notify_one();
}

void InstanceWorker::run() {
  Work work;
  while (true) {
    BatchRun* batch = nullptr;
    {
      MutexLock lock(mutex_);
      given_.wait(mutex_, [this]() TAUTO_NO_THREAD_SAFETY_ANALYSIS {
        return next_ != nullptr || stopping_;
      });
      if (next_ == nullptr) return;
      batch = std::exchange(next_, nullptr);
    }
    while (batch != nullptr) {
      group_.run_batch(*batch);
      group_.finish_batch(*batch, work);
      const auto mine = std::find_if(work.batches.begin(), work.batches.end(),
                                     [this](const BatchRun* b) { return b->worker == this; });
      batch = mine == work.batches.end() ? nullptr : *mine;
      if (batch != nullptr) work.batches.erase(mine);
      group_.carry_out(work, nullptr);
      work.clear();
    }
  }
}

}  // namespace tauto::serve
