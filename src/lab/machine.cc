#include "lab/machine.h"

#include <sched.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <time.h>

#include <array>
#include <fstream>
#include <string>

namespace tauto::lab {
namespace {

std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(':');
    if (colon == std::string::npos || colon + 2 > line.size()) continue;
    if (line.starts_with("model name") || line.starts_with("Model")) return line.substr(colon + 2);
  }
  return "";
}

}  // namespace

std::uint32_t usable_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return static_cast<std::uint32_t>(CPU_COUNT(&set));
}

report::Machine describe_machine() {
  report::Machine machine;
  machine.cpu = cpu_name();
  machine.cpus = usable_cpus();
  struct sysinfo memory {};
  if (::sysinfo(&memory) == 0) {
    machine.memory_bytes = std::uint64_t{memory.totalram} * memory.mem_unit;
  }
  utsname kernel{};
  if (::uname(&kernel) == 0) {
    machine.kernel = std::string(kernel.sysname) + " " + kernel.release + " " + kernel.machine;
  }
  // The date of the record, not a measurement: the only use of the wall clock here.
  const time_t now = ::time(nullptr);
  tm utc{};
  ::gmtime_r(&now, &utc);
  std::array<char, 32> text{};
  ::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
  machine.started = text.data();
  return machine;
}

}  // namespace tauto::lab
