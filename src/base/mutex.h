#pragma once
// std::mutex and std::condition_variable with clang's thread-safety annotations, which see nothing
// in libstdc++'s own. Never held across an engine call or a callback.

#include <chrono>
#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define TAUTO_TSA(x) __attribute__((x))
#else
#define TAUTO_TSA(x)
#endif
#define TAUTO_GUARDED_BY(m) TAUTO_TSA(guarded_by(m))
#define TAUTO_REQUIRES(m) TAUTO_TSA(requires_capability(m))
#define TAUTO_EXCLUDES(m) TAUTO_TSA(locks_excluded(m))
#define TAUTO_NO_THREAD_SAFETY_ANALYSIS TAUTO_TSA(no_thread_safety_analysis)

namespace tauto {

class TAUTO_TSA(capability("mutex")) Mutex {
 public:
  void lock() TAUTO_TSA(acquire_capability()) { m_.lock(); }
  void unlock() TAUTO_TSA(release_capability()) { m_.unlock(); }

 private:
  friend class CondVar;
  std::mutex m_;
};

class TAUTO_TSA(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& m) TAUTO_TSA(acquire_capability(m)) : m_(m) { m_.lock(); }
  ~MutexLock() TAUTO_TSA(release_capability()) { m_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& m_;
};

/// Waits on a predicate only. The caller holds the mutex before and after.
class CondVar {
 public:
  void notify_one() { cv_.notify_one(); }
  void notify_all() { cv_.notify_all(); }
  template <class Predicate>
  void wait(Mutex& m, Predicate predicate) TAUTO_REQUIRES(m) {
    std::unique_lock<std::mutex> lock(m.m_, std::adopt_lock);
    cv_.wait(lock, predicate);
    lock.release();
  }
  /// False when `deadline` passed first and the predicate is still false.
  template <class Clock_, class Predicate>
  bool wait_until(Mutex& m, std::chrono::time_point<Clock_, std::chrono::nanoseconds> deadline,
                  Predicate predicate) TAUTO_REQUIRES(m) {
    std::unique_lock<std::mutex> lock(m.m_, std::adopt_lock);
    const bool met = cv_.wait_until(lock, deadline, predicate);
    lock.release();
    return met;
  }

 private:
  std::condition_variable cv_;
};

}  // namespace tauto
