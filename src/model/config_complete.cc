#include "model/config_complete.h"

#include <algorithm>

#include "model/config_impl.h"
#include "model_config.pb.h"

namespace tauto::model {
namespace {

Error mismatch(std::string message) { return Error{Code::kInvalidArgument, std::move(message)}; }

bool first_dim_is_free(const TensorSpec& t) { return t.dims.rank() > 0 && t.dims[0] == -1; }

template <class Tensor>
void add_tensor(const TensorSpec& from, bool batch, Tensor& to) {
  to.set_name(from.name);
  to.set_data_type(static_cast<inference::DataType>(from.type));
  for (std::size_t i = batch ? 1 : 0; i < from.dims.rank(); ++i) to.add_dims(from.dims[i]);
  if (to.dims().empty()) {  // a config has no scalars: clients see one element
    to.add_dims(1);
    to.mutable_reshape();
  }
}

/// The shape that the engine's tensor must have under this config, batch dimension included.
Shape expected_shape(const TensorConfig& t, bool batch) {
  Shape out;
  if (batch) out.push_back(-1);
  const auto& seen = t.reshape ? *t.reshape : t.dims;
  for (const auto dim : seen.dims()) out.push_back(dim);
  return out;
}

bool shapes_agree(const Shape& file, const Shape& config) {
  if (file.rank() != config.rank()) return false;
  for (std::size_t i = 0; i < file.rank(); ++i) {
    if (file[i] != -1 && config[i] != -1 && file[i] != config[i]) return false;
  }
  return true;
}

Status check_tensor(const char* kind, const TensorSpec& file, const TensorConfig& config,
                    std::uint32_t rows_max) {
  const std::string tensor = std::string(kind) + " \"" + config.name + "\": ";
  if (file.type != config.type) {
    return mismatch(tensor + "the file has " + std::string(config_name(file.type)) +
                    ", the config says " + std::string(config_name(config.type)));
  }
  const bool batch = rows_max > 0;
  if (batch && !first_dim_is_free(file)) {
    return mismatch(tensor + "the file has shape " + file.dims.to_string() +
                    ", whose first dimension is no batch; set max_batch_size to 0 and write the "
                    "whole shape in dims");
  }
  if (const auto expected = expected_shape(config, batch); !shapes_agree(file.dims, expected)) {
    return mismatch(tensor + "the file has shape " + file.dims.to_string() +
                    ", the config makes it " + expected.to_string() +
                    (batch ? " (with the batch dimension)" : ""));
  }
  return Unit{};
}

std::string names_of(const std::vector<TensorSpec>& tensors) {
  std::string out;
  for (const auto& t : tensors) out += (out.empty() ? "\"" : ", \"") + t.name + "\"";
  return out;
}

Status check_tensors(const char* kind, const std::vector<TensorSpec>& file,
                     const std::vector<TensorConfig>& config, std::uint32_t rows_max) {
  for (const auto& tensor : config) {
    const auto it = std::find_if(file.begin(), file.end(),
                                 [&](const auto& t) { return t.name == tensor.name; });
    if (it == file.end()) {
      return mismatch(std::string(kind) + " \"" + tensor.name +
                      "\" is not in the file, which has " + names_of(file));
    }
    TAUTO_RETURN_IF_ERROR(check_tensor(kind, *it, tensor, rows_max));
  }
  return Unit{};
}

}  // namespace

ConfigDocument complete_config(const ConfigDocument& document, const engine::ModelDescription& file,
                               std::uint32_t rows_max_default) {
  if (!document.incomplete()) return document;
  auto proto = std::make_shared<inference::ModelConfig>(*document.impl().proto);
  auto& c = *proto;
  const auto free = [](const auto& tensors) {
    return std::all_of(tensors.begin(), tensors.end(), first_dim_is_free);
  };
  if (c.max_batch_size() == 0 && !file.inputs.empty() && free(file.inputs) && free(file.outputs)) {
    c.set_max_batch_size(static_cast<std::int32_t>(rows_max_default));
    if (rows_max_default > 1 &&
        c.scheduling_choice_case() == inference::ModelConfig::SCHEDULING_CHOICE_NOT_SET) {
      c.mutable_dynamic_batching();
    }
  }
  const bool batch = c.max_batch_size() > 0;
  if (c.input().empty()) {
    for (const auto& t : file.inputs) add_tensor(t, batch, *c.add_input());
  }
  if (c.output().empty()) {
    for (const auto& t : file.outputs) add_tensor(t, batch, *c.add_output());
  }
  auto impl = std::make_shared<ConfigDocument::Impl>(document.impl());
  impl->completed = true;
  impl->proto = std::move(proto);
  return ConfigDocument(std::move(impl));
}

Status check_against_file(const Config& config, const engine::ModelDescription& file) {
  for (const auto& t : file.inputs) {
    const bool there = std::any_of(config.inputs.begin(), config.inputs.end(),
                                   [&](const auto& input) { return input.name == t.name; });
    if (!there) {
      return mismatch("input \"" + t.name + "\" of the file (" + std::string(config_name(t.type)) +
                      " " + t.dims.to_string() + ") is missing in the config");
    }
  }
  TAUTO_RETURN_IF_ERROR(check_tensors("input", file.inputs, config.inputs, config.rows_max));
  return check_tensors("output", file.outputs, config.outputs, config.rows_max);
}

}  // namespace tauto::model
