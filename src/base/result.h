#pragma once
// A value or an Error, without exceptions. The macros at the end unwrap or return.

#include <string>
#include <utility>
#include <variant>

#include "base/check.h"

namespace tauto {

/// The canonical codes; each maps to one HTTP status, in `serve/status_map.cc` only.
enum class Code {
  kInvalidArgument,    // the caller's request can never succeed          400
  kNotFound,           // no such model, version or path                  404
  kResourceExhausted,  // a bounded queue was full: shed, retry later     429
  kCancelled,          // the caller went away                            499
  kInternal,           // our bug, or the engine's                        500
  kUnimplemented,      // known to the protocol, not supported here       501
  kUnavailable,        // stopping, not ready, or the engine is gone      503
  kDeadlineExceeded,   // the caller's deadline passed                    504
};

struct Error {
  Code code;
  std::string message;  // for people; never parsed
};

/// Either a value or an Error. Asking for the one that is absent is a programmer error.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  const T& value() const& {
    TAUTO_CHECK(ok());
    return *std::get_if<0>(&state_);
  }
  T& value() & {
    TAUTO_CHECK(ok());
    return *std::get_if<0>(&state_);
  }
  T&& value() && {
    TAUTO_CHECK(ok());
    return std::move(*std::get_if<0>(&state_));
  }
  const Error& error() const& {
    TAUTO_CHECK(!ok());
    return *std::get_if<1>(&state_);
  }
  Error&& error() && {
    TAUTO_CHECK(!ok());
    return std::move(*std::get_if<1>(&state_));
  }

 private:
  std::variant<T, Error> state_;
};

struct Unit {};
using Status = Result<Unit>;

}  // namespace tauto

#define TAUTO_CONCAT_(a, b) a##b
#define TAUTO_CONCAT(a, b) TAUTO_CONCAT_(a, b)
#define TAUTO_ASSIGN_OR_RETURN_(result, lhs, expr)    \
  auto result = (expr);                               \
  if (!result.ok()) return std::move(result).error(); \
  lhs = std::move(result).value()
/// `TAUTO_ASSIGN_OR_RETURN(const auto x, f());` unwraps, or returns f's Error from this function.
#define TAUTO_ASSIGN_OR_RETURN(lhs, expr) \
  TAUTO_ASSIGN_OR_RETURN_(TAUTO_CONCAT(tauto_result_, __LINE__), lhs, expr)
/// `TAUTO_RETURN_IF_ERROR(f());` returns f's Error from this function, else goes on.
#define TAUTO_RETURN_IF_ERROR(expr)                                   \
  do {                                                                \
    auto tauto_status_ = (expr);                                      \
    if (!tauto_status_.ok()) return std::move(tauto_status_).error(); \
  } while (false)
