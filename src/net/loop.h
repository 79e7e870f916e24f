#pragma once
// One thread's event loop (an Asio io_context behind a wall): sockets, timers, messages from other
// threads. Whoever owns it calls run() on a thread of its own; connections never change loops.

#include <cstddef>
#include <functional>
#include <memory>

#include "base/time.h"

namespace tauto::net {

/// Must outlive everything that was made on it. Threads: as each function says.
class Loop {
 public:
  using Function = void (*)(void*);
  struct Impl;

  /// `time` must outlive the loop.
  explicit Loop(const TimeSource& time);
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  /// Blocks until stop(). The calling thread is the loop thread until then.
  void run();
  /// Any thread. What is ready is not run any more; run() may be called again.
  void stop();
  /// Runs what is ready now and returns. Only while no thread is inside run(): to settle things
  /// after the loop's thread was joined, and in tests.
  void run_ready();

  /// Any thread: `fn(arg)` runs on the loop thread, in the order posted. Allocates nothing once
  /// warm. From the loop thread it runs later in the same turn, never inside this call.
  void post(Function fn, void* arg);
  /// Any thread, cold paths (allocates).
  void post(std::function<void()> fn);
  /// Loop thread: `fn(arg)` runs once, when every socket and message that is ready now has been
  /// served. Calls made by drained functions run after the next drain.
  void after_drain(Function fn, void* arg);
  /// Any thread, cold paths (allocates): `fn` runs at `at` or soon after.
  void call_at(Instant at, std::function<void()> fn);

  bool in_loop_thread() const;
  /// The loop's clock, read now.
  Instant now() const;
  const TimeSource& time() const;

  /// For the .cc files of this room.
  Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

/// One re-armable timer; arming allocates nothing once warm. Loop thread only, or while no thread
/// is inside run(). An earlier wake than the armed one costs a system call, a later one nothing.
class Timer {
 public:
  /// `fn(arg)` runs on the loop thread, at most once for each arm().
  Timer(Loop& loop, Loop::Function fn, void* arg);
  ~Timer();
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  /// Replaces an earlier setting.
  void arm(Instant at);
  void disarm();

 private:
  struct Impl;
  Impl* impl_;  // freed by the last pending wait, so that a late completion finds it
};

}  // namespace tauto::net
