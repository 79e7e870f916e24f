#pragma once
// How requests end. Every request that was read is counted under exactly one of these.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tauto::journey {

enum class Outcome : std::uint8_t {
  kServed,        // answered with outputs
  kFailed,        // the engine, or our own bug
  kExpired,       // its deadline passed, waiting or running
  kQueueTimeout,  // not dispatched within its queue timeout
  kShed,          // a bounded queue was full
  kCancelled,     // the client went away
  kInvalid,       // refused: malformed, or the model does not take it
  kLost,          // its instance or model went away under it
};
inline constexpr std::size_t kOutcomeCount = 8;
inline constexpr std::array<std::string_view, kOutcomeCount> kOutcomeNames{
    "served", "failed", "expired", "queue_timeout", "shed", "cancelled", "invalid", "lost"};
using OutcomeCounts = std::array<std::uint64_t, kOutcomeCount>;

constexpr std::string_view outcome_name(Outcome o) {
  return kOutcomeNames[static_cast<std::size_t>(o)];
}

}  // namespace tauto::journey
