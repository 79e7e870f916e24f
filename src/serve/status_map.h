#pragma once
// The one place where an outcome becomes an HTTP status.

#include "base/result.h"
#include "sched/actions.h"

namespace tauto::serve {

/// 400 kInvalidArgument, 404 kNotFound, 429 kResourceExhausted, 499 kCancelled, 500 kInternal,
/// 501 kUnimplemented, 503 kUnavailable, 504 kDeadlineExceeded.
unsigned http_status(Code code);

/// The Code of a request that the scheduler refused or gave up; kInternal for kServed and kFailed,
/// whose status comes from the engine.
Code code_of(sched::AnswerKind kind);

}  // namespace tauto::serve
