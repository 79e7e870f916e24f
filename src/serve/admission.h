#pragma once
// Whether a model takes a request: names, types, shapes, rows; and the request's time limits.

#include <optional>

#include "base/result.h"
#include "serve/model_host.h"
#include "serve/request.h"
#include "wire/infer_request.h"

namespace tauto::serve {

/// Fills `request.inputs` (signature order), `outputs_wanted` and `arrive` (rows, compat_key,
/// elements_per_row, priority, queue_timeout; not the deadline). Messages are Triton's where
/// clients match them. Errors: kInvalidArgument, kUnimplemented. Allocates nothing for a good
/// request once warm.
Status admit(const ModelHost& host, const wire::InferRequest& asked, Request& request);

/// A raw binary request (`asked.raw`) becomes one input of the model's only input: batch 1, its one
/// free dimension deduced from the size. Errors: kInvalidArgument when that is not possible.
Status expand_raw(const ModelHost& host, wire::InferRequest& asked);

/// The strictest of the model's objective, `deadline_us` and `x-envoy-expected-rq-timeout-ms`,
/// counted from the first byte seen. Errors: kInvalidArgument for a header that is no number.
Result<std::optional<Instant>> deadline_of(const ModelHost& host, const wire::InferRequest& asked,
                                           std::string_view envoy_timeout_ms, Instant first_byte);

}  // namespace tauto::serve
