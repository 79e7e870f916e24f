#pragma once
// One loaded ONNX file: its session, what it says about itself, whether a signature fits it, and
// the instances that run it. Inner header of engine/onnx.

#include "engine/engine.h"
#include "engine/onnx/onnx_parameters.h"
#include "engine/onnx/ort.h"

namespace tauto::engine::onnx {

/// Shared by the instances of a model: ONNX Runtime may run one session from many threads at once.
struct Session {
  std::shared_ptr<const Library> library;
  OrtPtr<OrtSession> session;
  Parameters parameters;
  ModelDescription description;
  std::vector<TensorSpec> optional_inputs;  // initializers that a request may override
};

/// Fills description and optional_inputs. Errors: kInvalidArgument for a tensor that the protocol
/// cannot carry. `declared`: outputs that are no tensors are passed over when it does not name
/// them.
Status describe(Session& session, const Signature& declared);

/// Errors: kInvalidArgument, naming the tensor, what the file has and what the config says.
Status check_signature(const Session& session, const Signature& signature);

/// Requires: check_signature passed.
Result<std::unique_ptr<Instance>> make_onnx_instance(std::shared_ptr<const Session> session,
                                                     const Signature& signature,
                                                     const TimeSource& time);

}  // namespace tauto::engine::onnx
