#pragma once

namespace tauto::app {

/// `tauto serve`; argv[0] is "serve". Blocks until SIGTERM or SIGINT. Exit codes: 0 ended in order,
/// 1 requests were cut off at the end, 2 could not start (one line on stderr says what to do).
/// Requires: SIGTERM and SIGINT are blocked in every thread.
int run_serve(int argc, char** argv);

}  // namespace tauto::app
