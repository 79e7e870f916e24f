#include "serve/status_map.h"

namespace tauto::serve {

unsigned http_status(Code code) {
  switch (code) {
    case Code::kInvalidArgument:
      return 400;
    case Code::kNotFound:
      return 404;
    case Code::kResourceExhausted:
      return 429;
    case Code::kCancelled:
      return 499;
    case Code::kInternal:
      return 500;
    case Code::kUnimplemented:
      return 501;
    case Code::kUnavailable:
      return 503;
    case Code::kDeadlineExceeded:
      return 504;
  }
  TAUTO_CHECK(false);
  return 500;
}

Code code_of(sched::AnswerKind kind) {
  switch (kind) {
    case sched::AnswerKind::kServed:
    case sched::AnswerKind::kFailed:
      return Code::kInternal;
    case sched::AnswerKind::kExpired:
      return Code::kDeadlineExceeded;
    case sched::AnswerKind::kQueueTimeout:
      return Code::kUnavailable;  // as Triton answers it
    case sched::AnswerKind::kShed:
      return Code::kResourceExhausted;
    case sched::AnswerKind::kCancelled:
      return Code::kCancelled;
    case sched::AnswerKind::kLost:
    case sched::AnswerKind::kRetired:
      return Code::kUnavailable;
  }
  TAUTO_CHECK(false);
  return Code::kInternal;
}

}  // namespace tauto::serve
