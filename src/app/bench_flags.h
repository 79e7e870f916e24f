#pragma once
// The flags of `tauto bench` as typed, and their meaning.

#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "lab/bench.h"

namespace tauto::app {

struct BenchCommand {
  lab::BenchOptions options;
  std::string json_file;  // "" writes none; "-" is stdout
  std::string html_file;
  bool quiet = false;  // no progress line
};

struct HelpText {
  std::string text;
};

/// argv[0] is the subcommand's name. Reads the files named by --body and --input. Errors:
/// kInvalidArgument, one line that says what to do.
Result<std::variant<BenchCommand, HelpText>> parse_bench_flags(int argc, char** argv);

}  // namespace tauto::app
