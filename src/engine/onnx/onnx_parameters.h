#pragma once
// Session and run options from a config's `parameters`, named as Triton's ONNX Runtime backend
// names them. Inner header of engine/onnx.
//
//   intra_op_thread_count, inter_op_thread_count   0 = as many as cores; else LoadOptions::threads
//   execution_mode                      0 sequential (default), 1 parallel branches
//   enable_mem_arena, enable_mem_pattern           0 | 1 (default)
//   memory.enable_memory_arena_shrinkage           "cpu:0": give memory back after each run
//   session.use_device_allocator_for_initializers  0 (default) | 1
//   session.*                           some of ONNX Runtime's own keys, passed on as they are
//   cudnn_conv_algo_search, gpu_mem_limit, arena_extend_strategy, do_copy_in_default_stream
//                                       for GPUs: read, without effect on a CPU
// Parameters that begin with `tauto.` are not looked at; any other is refused.

#include <map>
#include <string>

#include "engine/engine.h"
#include "engine/onnx/ort.h"

namespace tauto::engine::onnx {

struct Parameters {
  std::optional<int> intra_op_threads;
  std::optional<int> inter_op_threads;
  bool parallel = false;
  bool arena = true;
  bool pattern = true;
  std::string shrinkage;                       // "" = off
  std::map<std::string, std::string> session;  // ONNX Runtime's config entries
};

/// Errors: kInvalidArgument, naming the parameter and, for an unknown one, the nearest known.
Result<Parameters> parse_parameters(const std::map<std::string, std::string>& parameters);

Result<OrtPtr<OrtSessionOptions>> make_session_options(const Library& library,
                                                       const LoadOptions& options,
                                                       const Parameters& parameters);
Result<OrtPtr<OrtRunOptions>> make_run_options(const Library& library,
                                               const Parameters& parameters);

}  // namespace tauto::engine::onnx
