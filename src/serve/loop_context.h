#pragma once
// What each IO thread owns beside its event loop: news from other threads about its requests, and
// batches it runs itself.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "net/loop.h"
#include "serve/request.h"

namespace tauto::serve {

class DeviceGroup;

/// News about one request for its loop: it is answered, its batch has ended, or both.
struct Notice {
  Request* request;
  bool answered;
  bool batch_done;
};

/// What one scheduler step asks this thread to do, after the group's mutex is released. Reused.
struct Work {
  std::vector<BatchRun*> batches;
  std::vector<Notice> notices;
  void clear() {
    batches.clear();
    notices.clear();
  }
};

/// Threads: the loop's own, except post_notices.
struct LoopContext {
  LoopContext(net::Loop& owner, std::size_t number) : loop(owner), index(number) {}

  net::Loop& loop;
  std::size_t index;  // shard of every per-loop counter
  std::vector<BatchRun*> inline_batches;
  bool inline_armed = false;
  DeviceGroup* group = nullptr;

  /// Any thread: hands notices over and wakes the loop when it was idle.
  void post_notices(const Notice* first, std::size_t count);

  /// A Work for one step; nested steps (an answer that lets the next pipelined request in) each get
  /// their own. Give it back with put_work.
  std::unique_ptr<Work> take_work();
  void put_work(std::unique_ptr<Work> work);

 private:
  static void drain(void* self);

  Mutex mutex_;
  std::vector<Notice> outbox_ TAUTO_GUARDED_BY(mutex_);
  std::vector<Notice> draining_;
  std::vector<std::unique_ptr<Work>> spare_;
};

/// Takes one notice to its request: answers it, and releases it when nothing holds it any more.
void handle_notice(const Notice& notice);
/// The reply of `request` has left (or the client is gone): releases it unless its batch still
/// runs.
void request_sent(Request& request);

}  // namespace tauto::serve
