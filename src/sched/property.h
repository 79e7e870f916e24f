#pragma once
// A random history of one device group, by seed: arrivals, cancels, deaths, drains, changed
// settings, late ticks, repeated events. For the property test and for the program sched_seeds.

#include <cstdint>
#include <string>

namespace tauto::sched {

/// What went wrong with this seed, with the step at which it did; empty if every property held:
/// after each step those of Shadow (I1, I2, I3, I7, I8, I10, I11, and hold to the nanosecond); in
/// the end that nothing is left, that a replay gives the same actions (I14), also when saved and
/// restored between any two steps, and that shifting all times changes nothing (I15).
std::string check_seed(std::uint64_t seed);

/// The state in the middle of such a history, saved.
std::string snapshot_of_seed(std::uint64_t seed);

}  // namespace tauto::sched
