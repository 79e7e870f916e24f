#include "serve/loop_context.h"

#include "serve/device_group.h"
#include "serve/model_host.h"

namespace tauto::serve {

void LoopContext::post_notices(const Notice* first, std::size_t count) {
  bool was_empty = false;
  {
    MutexLock lock(mutex_);
    was_empty = outbox_.empty();
    outbox_.insert(outbox_.end(), first, first + count);
  }
  if (was_empty) loop.post(&LoopContext::drain, this);
}

void LoopContext::drain(void* self) {
  auto& here = *static_cast<LoopContext*>(self);
  {
    MutexLock lock(here.mutex_);
    here.draining_.swap(here.outbox_);
  }
  for (const auto& notice : here.draining_) handle_notice(notice);
  here.draining_.clear();
}

std::unique_ptr<Work> LoopContext::take_work() {
  if (spare_.empty()) return std::make_unique<Work>();
  auto work = std::move(spare_.back());
  spare_.pop_back();
  return work;
}

void LoopContext::put_work(std::unique_ptr<Work> work) {
  work->clear();
  spare_.push_back(std::move(work));
}

namespace {

void release_if_done(Request& request) {
  if (!request.sent || (request.batch != nullptr && !request.batch_done)) return;
  if (request.batch != nullptr) request.model->group().let_go(*request.batch);
  request.front_end.release(request);
}

}  // namespace

void handle_notice(const Notice& notice) {
  Request& request = *notice.request;
  if (notice.batch_done) request.batch_done = true;
  if (notice.answered) {
    TAUTO_CHECK(!request.answered);
    request.answered = true;
    request.front_end.answer(request);  // may release it
    return;
  }
  release_if_done(request);
}

void request_sent(Request& request) {
  request.sent = true;
  release_if_done(request);
}

}  // namespace tauto::serve
