#pragma once
// The standard Server-Timing header: `receive;dur=0.021, compute;dur=9.1, total;dur=9.7`, in ms.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace tauto::wire {

struct Timing {
  std::string_view name;
  Duration duration;
};

/// Appends the header's value, rounded to whole microseconds. Requires: names are HTTP tokens.
void append_server_timing(std::span<const Timing> timings, std::string& out);

/// Appends the entries of a header's value; names are views into it. Entries without `dur`, other
/// parameters and quoted texts are read over. Errors: kInvalidArgument when it is not a
/// Server-Timing value, or a duration is negative or above a year.
Status parse_server_timing(std::string_view value, std::vector<Timing>& out);

}  // namespace tauto::wire
