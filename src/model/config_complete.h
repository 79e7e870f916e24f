#pragma once
// What a model file knows that its config need not say, and whether the two agree.

#include <cstdint>

#include "base/result.h"
#include "engine/engine.h"
#include "model/config_document.h"

namespace tauto::model {

/// Triton's rules for ONNX files. Only when inputs or outputs are missing: they are taken from the
/// file; max_batch_size 0 becomes `rows_max_default` when dimension 0 of every tensor is free, and
/// then, above 1 and without a scheduler, dynamic_batching is added.
ConfigDocument complete_config(const ConfigDocument& document, const engine::ModelDescription& file,
                               std::uint32_t rows_max_default);

/// Errors: kInvalidArgument, naming the tensor, what the file has and what the config says: an
/// input of the file that the config lacks, an unknown name, another type, other dims.
Status check_against_file(const Config& config, const engine::ModelDescription& file);

}  // namespace tauto::model
