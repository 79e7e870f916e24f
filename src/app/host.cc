#include "app/host.h"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string_view>

namespace tauto::app {
namespace {

std::string read_text(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::optional<long> first_number(std::string_view text) {
  long number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc{}) return std::nullopt;
  return number;
}

/// quota / period in whole CPUs, at least 1; 0 when there is no limit.
int whole_cpus(std::optional<long> quota, std::optional<long> period) {
  if (!quota || !period || *quota <= 0 || *period <= 0) return 0;
  return static_cast<int>(std::max(1L, *quota / *period));
}

int v2_limit(const std::string& directory) {  // cpu.max: "150000 100000" or "max 100000"
  const std::string text = read_text(directory + "/cpu.max");
  const auto space = text.find(' ');
  if (space == std::string::npos) return 0;
  return whole_cpus(first_number(text), first_number(std::string_view(text).substr(space + 1)));
}

int v1_limit(const std::string& directory) {
  return whole_cpus(first_number(read_text(directory + "/cpu.cfs_quota_us")),
                    first_number(read_text(directory + "/cpu.cfs_period_us")));
}

/// The strictest limit of `group` and of every group above it; a container may see its own group as
/// the root, which the last round covers.
int strictest(const std::string& base, std::string group, int (*limit)(const std::string&)) {
  int best = 0;
  while (true) {
    const int here = limit(base + group);
    if (here > 0) best = best == 0 ? here : std::min(best, here);
    if (group.empty()) return best;
    group.resize(group.find_last_of('/'));
  }
}

}  // namespace

int cgroup_cpu_quota(const std::string& root) {
  int best = 0;
  const auto consider = [&best](int limit) {
    if (limit > 0) best = best == 0 ? limit : std::min(best, limit);
  };
  std::istringstream lines(read_text(root + "/proc/self/cgroup"));
  for (std::string line; std::getline(lines, line);) {  // "4:cpu,cpuacct:/group" or "0::/group"
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    std::string group = line.substr(second + 1);
    if (group == "/" || !group.starts_with("/")) group.clear();
    if (controllers.empty()) {
      consider(strictest(root + "/sys/fs/cgroup", group, v2_limit));
      continue;
    }
    std::istringstream names(controllers);
    for (std::string name; std::getline(names, name, ',');) {
      if (name != "cpu") continue;
      consider(strictest(root + "/sys/fs/cgroup/" + controllers, group, v1_limit));
      consider(strictest(root + "/sys/fs/cgroup/cpu", group, v1_limit));
    }
  }
  return best;
}

int cpu_quota() {
  cpu_set_t set;
  CPU_ZERO(&set);
  int cpus = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  const int quota = cgroup_cpu_quota("");
  if (quota > 0) cpus = std::min(cpus, quota);
  return std::max(1, cpus);
}

}  // namespace tauto::app
