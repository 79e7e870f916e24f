#pragma once
// What this process may use of the machine.

#include <string>

namespace tauto::app {

/// Whole CPUs this process may use, >= 1: the smallest of its affinity mask and its cgroup's CPU
/// quota (v1 and v2, its own group and those above it), rounded down.
int cpu_quota();

/// The cgroup's share of the above. `root` stands before "/sys/fs/cgroup" and "/proc/self/cgroup"
/// ("" = the machine's own); 0 = no limit.
int cgroup_cpu_quota(const std::string& root);

}  // namespace tauto::app
