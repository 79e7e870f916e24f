#pragma once
// The `parameters` of an infer request: Triton's own, our deadline and labels, and the model's.

#include "base/result.h"
#include "wire/infer_request.h"
#include "wire/json_reader_impl.h"

namespace tauto::wire {

/// Reads the object at the top of a request into `out`. Of a name that stands twice, the first
/// counts.
Status read_request_parameters(const JsonSource& source, ondemand::value value, InferRequest& out);

}  // namespace tauto::wire
