#include "engine/onnx/onnx_parameters.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace tauto::engine::onnx {
namespace {

using namespace std::string_view_literals;

constexpr std::uint64_t kThreadsMax = 4096;
constexpr std::array kGpuOnly = {"cudnn_conv_algo_search"sv, "gpu_mem_limit"sv,
                                 "arena_extend_strategy"sv, "do_copy_in_default_stream"sv};
constexpr std::array kSession = {"session.use_device_allocator_for_initializers"sv,
                                 "session.intra_op.allow_spinning"sv,
                                 "session.inter_op.allow_spinning"sv,
                                 "session.set_denormal_as_zero"sv,
                                 "session.disable_prepacking"sv,
                                 "session.dynamic_block_base"sv,
                                 "session.force_spinning_stop"sv};
constexpr std::array kKnown = {"intra_op_thread_count"sv,
                               "inter_op_thread_count"sv,
                               "execution_mode"sv,
                               "enable_mem_arena"sv,
                               "enable_mem_pattern"sv,
                               "memory.enable_memory_arena_shrinkage"sv,
                               kGpuOnly[0],
                               kGpuOnly[1],
                               kGpuOnly[2],
                               kGpuOnly[3],
                               kSession[0],
                               kSession[1],
                               kSession[2],
                               kSession[3],
                               kSession[4],
                               kSession[5],
                               kSession[6]};

template <class List>
bool contains(const List& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

Status read_flag(bool& out, const std::string& text) {
  TAUTO_ASSIGN_OR_RETURN(const auto number, parse_count(text, 0, 1));
  out = number == 1;
  return Unit{};
}

Status read_threads(std::optional<int>& out, const std::string& text) {
  TAUTO_ASSIGN_OR_RETURN(const auto number, parse_count(text, 0, kThreadsMax));
  out = static_cast<int>(number);
  return Unit{};
}

Status apply(Parameters& p, const std::string& name, const std::string& text) {
  if (name == "intra_op_thread_count") return read_threads(p.intra_op_threads, text);
  if (name == "inter_op_thread_count") return read_threads(p.inter_op_threads, text);
  if (name == "execution_mode") return read_flag(p.parallel, text);
  if (name == "enable_mem_arena") return read_flag(p.arena, text);
  if (name == "enable_mem_pattern") return read_flag(p.pattern, text);
  if (name == "memory.enable_memory_arena_shrinkage") {
    // A list "cpu:0;gpu:0"; what is not the CPU has no arena here.
    if (text.find("cpu:0") != std::string::npos) p.shrinkage = "cpu:0";
    if (text.empty()) return Error{Code::kInvalidArgument, "want a device, as in cpu:0"};
    return Unit{};
  }
  if (contains(kGpuOnly, name)) return Unit{};
  if (contains(kSession, name)) {
    p.session.emplace(name, text);
    return Unit{};
  }
  const auto nearest = nearest_word(name, kKnown);
  return Error{Code::kInvalidArgument,
               "the onnx engine has no such parameter" +
                   (nearest.empty() ? "" : "; did you mean '" + std::string(nearest) + "'?")};
}

GraphOptimizationLevel graph_level(int level) {
  switch (level) {
    case -1:
      return ORT_ENABLE_BASIC;
    case 1:
      return ORT_ENABLE_EXTENDED;
    case 2:
      return ORT_DISABLE_ALL;
    default:
      return ORT_ENABLE_ALL;
  }
}

Status set_threads(const Library& library, const LoadOptions& options, const Parameters& parameters,
                   OrtSessionOptions* out) {
  const OrtApi& api = library.api;
  const bool own = parameters.intra_op_threads || parameters.inter_op_threads;
  if (library.global_threads && !own) return check(api, api.DisablePerSessionThreads(out));
  const int intra = parameters.intra_op_threads.value_or(options.threads);
  TAUTO_RETURN_IF_ERROR(check(api, api.SetIntraOpNumThreads(out, intra)));
  const int inter = parameters.inter_op_threads.value_or(parameters.parallel ? options.threads : 1);
  return check(api, api.SetInterOpNumThreads(out, inter));
}

/// Where a run computes: CPU, which every session has. CUDA and TensorRT are appended here, before
/// it, by their config (`execution_accelerators`, KIND_GPU).
Status append_providers(const Library&, const LoadOptions&, OrtSessionOptions*) { return Unit{}; }

}  // namespace

Result<Parameters> parse_parameters(const std::map<std::string, std::string>& parameters) {
  Parameters parsed;
  for (const auto& [name, text] : parameters) {
    if (name.starts_with("tauto.")) continue;
    auto applied = apply(parsed, name, text);
    if (!applied.ok()) {
      return Error{Code::kInvalidArgument, "parameter '" + name + "': " + applied.error().message};
    }
  }
  return parsed;
}

Result<OrtPtr<OrtSessionOptions>> make_session_options(const Library& library,
                                                       const LoadOptions& options,
                                                       const Parameters& parameters) {
  const OrtApi& api = library.api;
  TAUTO_ASSIGN_OR_RETURN(
      auto made, make<OrtSessionOptions>(api, api.ReleaseSessionOptions, api.CreateSessionOptions));
  OrtSessionOptions* const out = made.get();
  TAUTO_RETURN_IF_ERROR(
      check(api, api.SetSessionGraphOptimizationLevel(out, graph_level(options.graph_level))));
  TAUTO_RETURN_IF_ERROR(set_threads(library, options, parameters, out));
  const auto mode = parameters.parallel ? ORT_PARALLEL : ORT_SEQUENTIAL;
  TAUTO_RETURN_IF_ERROR(check(api, api.SetSessionExecutionMode(out, mode)));
  if (!parameters.arena) TAUTO_RETURN_IF_ERROR(check(api, api.DisableCpuMemArena(out)));
  // Memory patterns plan for one order of execution.
  if (!parameters.pattern || parameters.parallel) {
    TAUTO_RETURN_IF_ERROR(check(api, api.DisableMemPattern(out)));
  }
  auto entries = parameters.session;
  // Spinning burns the cores that other models and the network need.
  const char* const spin = options.spin ? "1" : "0";
  entries.emplace("session.intra_op.allow_spinning", spin);
  entries.emplace("session.inter_op.allow_spinning", spin);
  for (const auto& [name, text] : entries) {
    TAUTO_RETURN_IF_ERROR(check(api, api.AddSessionConfigEntry(out, name.c_str(), text.c_str())));
  }
  TAUTO_RETURN_IF_ERROR(append_providers(library, options, out));
  return made;
}

Result<OrtPtr<OrtRunOptions>> make_run_options(const Library& library,
                                               const Parameters& parameters) {
  const OrtApi& api = library.api;
  TAUTO_ASSIGN_OR_RETURN(auto made,
                         make<OrtRunOptions>(api, api.ReleaseRunOptions, api.CreateRunOptions));
  if (!parameters.shrinkage.empty()) {
    TAUTO_RETURN_IF_ERROR(
        check(api, api.AddRunConfigEntry(made.get(), "memory.enable_memory_arena_shrinkage",
                                         parameters.shrinkage.c_str())));
  }
  return made;
}

}  // namespace tauto::engine::onnx
