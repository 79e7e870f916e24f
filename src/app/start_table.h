#pragma once
// What a server says when it starts: a line a model, what the time to ready was spent on, whether
// batching pays.

#include <string>
#include <vector>

#include "model/loader.h"
#include "serve/server.h"

namespace tauto::app {

/// Models that are ready, then those that are not with the reason, then notes.
std::string start_table(const std::vector<model::LoadOutcome>& outcomes);
/// Why serving cannot begin; "" when it can.
std::string start_problem(const std::vector<model::LoadOutcome>& outcomes, bool exit_on_error);
/// "HTTP 8000  metrics 8002  ready".
std::string ready_line(const serve::Server& server, const serve::ServerOptions& options);

}  // namespace tauto::app
