#pragma once
// The JSON of an infer request: its members, inputs and outputs.

#include <cstddef>
#include <vector>

#include "base/result.h"
#include "wire/infer_request.h"
#include "wire/json_reader_impl.h"

namespace tauto::wire {

/// Fills `out` but for the bytes of binary tensors, whose sizes go to `binary_sizes`, in order.
Status read_infer_json(const JsonSource& source, std::vector<std::size_t>& binary_sizes,
                       InferRequest& out);

}  // namespace tauto::wire
