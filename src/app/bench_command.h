#pragma once
// `tauto bench`: loads a server, says how fast it really is and where the time went.

namespace tauto::app {

/// argv[0] is "bench". Prints to stdout (report) and stderr (progress, complaints). Blocks until
/// the run is over. Exit codes: 0 measured; 1 could not run, or no request succeeded; 2 bad flags;
/// 3 the objective given by --slo failed or could not be decided.
int run_bench(int argc, char** argv);

}  // namespace tauto::app
