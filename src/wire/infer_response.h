#pragma once
// The answer of KServe v2 inference over HTTP: JSON, then the binary tensors in order.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/tensor.h"
#include "wire/infer_request.h"

namespace tauto::wire {

struct InferOutput {
  std::string_view name;
  TensorView tensor;
  bool binary = false;
};

struct InferResponse {
  std::string_view id = {};  // "" = left out
  std::string_view model_name;
  std::string_view model_version;
  std::span<const Parameter> parameters = {};
  std::span<const InferOutput> outputs = {};
};

/// Appends the JSON to `json` and one span per binary output, in order, to `binary`. The body is
/// `json` followed by the spans; header Inference-Header-Content-Length (the length of the JSON) is
/// due when one output is binary. Floats are the shortest text that reads back as the same value of
/// their type (Triton prints an FP32 as the widened double); NaN and infinities stand bare, as in
/// Triton, which Python's json reads.
/// Errors: kInvalidArgument (FP16 or BF16 without binary), kInternal (BYTES that do not fit their
/// shape); then `json` and `binary` are as before.
Status write_infer_response(const InferResponse& response, std::string& json,
                            std::vector<std::span<const std::byte>>& binary);

}  // namespace tauto::wire
