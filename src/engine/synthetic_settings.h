#pragma once
// The parameters of the synthetic engine, read from a config's `parameters`. Inner header.
//
//   tauto.synthetic.fixed, .per_row     l(b) = fixed + per_row * b; durations with units
//   delay_a_us, delay_c_us              the same in microseconds, as the peers' echo backend has it
//   tauto.synthetic.profile             l(b) as a table, "1:2ms,8:5ms": interpolated between
//   tauto.synthetic.mode, delay_mode    spin (default) | sleep | hybrid (sleeps, spins the end) |
//   none tauto.synthetic.jitter, .seed       adds a uniform 0..jitter to each run, the same for a
//   seed tauto.synthetic.bind_delay, .compute_delay, .unbind_delay    added to that part of each
//   run tauto.synthetic.output, .output.NAME                          a constant for all outputs,
//   or one tauto.synthetic.fail_every          every n-th run of an instance fails with kInternal

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "core/data_type.h"
#include "core/service_time.h"

namespace tauto::engine {

enum class Wait { kSpin, kSleep, kHybrid, kNone };

struct SyntheticSettings {
  ServiceTime compute;  // l(b); known
  Wait wait = Wait::kSpin;
  Duration jitter{};
  std::uint64_t seed = 1;
  Duration bind_delay{};
  Duration compute_delay{};
  Duration unbind_delay{};
  std::uint64_t fail_every = 0;                // 0: never
  std::optional<std::string> output;           // constant of every output
  std::map<std::string, std::string> outputs;  // constant by output name; goes before `output`
};

/// Errors: kInvalidArgument, naming the parameter: unknown among ours (`tauto.synthetic.*`,
/// `delay_*`), ill-formed, or two that contradict. Parameters of others are not looked at.
Result<SyntheticSettings> parse_synthetic_settings(
    const std::map<std::string, std::string>& parameters);

/// One element of `type` that holds `text`, as it stands in a tensor. Errors: kInvalidArgument.
Result<std::vector<std::byte>> constant_element(DataType type, std::string_view text);

}  // namespace tauto::engine
