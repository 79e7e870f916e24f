#pragma once
// What a run sends and where: made from the options, and for a KServe model from what the server
// says about it.

#include <string>

#include "lab/bench.h"
#include "net/http_client.h"

namespace tauto::lab {

struct Target {
  net::Endpoint endpoint;
  RequestSet requests;
  std::string description;  // "model minilm, binary tensors, batch 1"
  std::uint64_t rows_per_request = 1;
};

/// Asks the server where needed. Errors as bench().
Result<Target> make_target(const BenchOptions& options);

}  // namespace tauto::lab
