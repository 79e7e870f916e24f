#pragma once
// The little language of tests/scenarios/*.txt: what happens to a scheduler, line by line, and
// after a line of four dashes what it must do. For tests only; every unknown word is an error.
//
//   model m policy triton rows_max 8 preferred 4,8 hold 50ms levels 2 default 2 depth 100 ordering
//   queue m 1 timeout 5ms delay override depth 3     one level's policy; `queue m default ...`
//   profile m fixed 1ms per_row 100us
//   instance i1 m
//   at 3ms arrive r1 rows 2 priority 1 key 7 timeout 5ms deadline 20ms    (deadline_at: absolute)
//   at 4ms cancel r1 | done b1 [failed] | tick | up i2 m | down i2 | drain i2 | retire m
//   at 5ms model m hold 1ms | queue ... | profile ...                     settings change
//   at 6ms state                                                          prints depths and the
//   wake ticks off                                                             else delivered when
//   due
//
// Ticks that are due before a line's time are delivered first, at their own time; after the last
// line, until none is due. One model only: arrive needs no `model NAME`.

#include <cstdint>
#include <string>
#include <string_view>

namespace tauto::sched {

struct ScenarioResult {
  std::string actions;  // one line per action
  std::string error;    // empty, or what is wrong with the text
};

/// `restoring`: the scheduler is saved and restored after every step.
ScenarioResult run_scenario(std::string_view text, bool restoring);

/// "b1", "i1", "m": one line per dispatch and answer. Times are exact, in the largest whole unit.
std::string exact_time(std::int64_t ns);

}  // namespace tauto::sched
