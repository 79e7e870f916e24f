#pragma once
// What the sending thread asks of the kernel: exact timers, and what it has cost so far.

#include <sys/prctl.h>
#include <sys/resource.h>

#include <algorithm>

namespace tauto::lab {

/// User and system time of the calling thread.
inline double thread_cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// Lets this thread's timeouts fire on time: the kernel's default rounds them up by 50 us.
class ExactTimers {
 public:
  ExactTimers() : before_(::prctl(PR_GET_TIMERSLACK)) { ::prctl(PR_SET_TIMERSLACK, 1UL); }
  ~ExactTimers() { ::prctl(PR_SET_TIMERSLACK, static_cast<unsigned long>(std::max(before_, 0))); }
  ExactTimers(const ExactTimers&) = delete;
  ExactTimers& operator=(const ExactTimers&) = delete;

 private:
  int before_;
};

}  // namespace tauto::lab
