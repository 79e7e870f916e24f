#pragma once
// The one vocabulary of a request's life: eleven stages, in order. The names stand in metrics,
// headers, reports and docs exactly as here.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tauto::journey {

enum class Stage : std::uint8_t {
  kReceive,  // ends when the last byte of the request was read
  kParse,    // ends when the request is understood, tensors viewed in place
  kPrepare,  // ends when pre-processing is done
  kHold,     // share of the queue time: an instance was idle, the scheduler waited for company
  kWait,     // the rest of the queue time; ends when the engine's thread picked the batch up
  kBind,     // ends when the inputs are in place for the engine
  kCompute,  // ends when the engine returned
  kUnbind,   // ends when the outputs are back in host memory
  kFinish,   // ends when post-processing is done
  kReply,    // ends when the response is serialised
  kSend,     // ends when the kernel accepted the last byte
};
inline constexpr std::size_t kStageCount = 11;

inline constexpr std::array<std::string_view, kStageCount> kStageNames{
    "receive", "parse",  "prepare", "hold",  "wait", "bind",
    "compute", "unbind", "finish",  "reply", "send"};

constexpr std::string_view stage_name(Stage s) { return kStageNames[static_cast<std::size_t>(s)]; }

constexpr std::optional<Stage> stage_from_name(std::string_view name) {
  for (std::size_t i = 0; i < kStageCount; ++i) {
    if (kStageNames[i] == name) return static_cast<Stage>(i);
  }
  return std::nullopt;
}

}  // namespace tauto::journey
