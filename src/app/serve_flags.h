#pragma once
// The flags of `tauto serve`: Triton's where the meaning is the same, ours with units. What Triton
// knows and we do not is either harmless (said once) or refused, never ignored in silence.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "sched/events.h"
#include "serve/server.h"

namespace tauto::app {

struct ServeFlags {
  std::vector<std::string> paths;  // repositories, or one model file
  serve::ServerOptions server;
  std::optional<std::size_t> io_threads;
  Duration lame_duck{std::chrono::seconds(5)};  // after SIGTERM; SIGINT has none
  Duration exit_timeout{std::chrono::seconds(30)};
  Duration warm_budget{std::chrono::seconds(3)};
  bool exit_on_error = false;  // Triton: true; here a broken model never stops the others
  bool auto_complete = true;
  std::uint32_t rows_max_default = 4;
  std::optional<sched::PolicyKind> policy;
  std::string onnxruntime_library;  // "" = the usual places
  std::string port_file;            // written when ready: "http PORT\nmetrics PORT\n"
  std::vector<std::string> notes;   // flags without effect here, one line each
};

/// What to do instead of serving: print `text` and end with `status`.
struct Stop {
  int status;
  std::string text;
};

/// argv[0] is "serve". Either flags, or why not (help, a bad flag).
struct ParsedServe {
  ServeFlags flags;
  std::optional<Stop> stop;
};
ParsedServe parse_serve_flags(int argc, char** argv);

}  // namespace tauto::app
