#pragma once
// Private to config_*.cc: the protobuf behind a ConfigDocument, and errors that know their line.

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/config_document.h"

namespace inference {
class ModelConfig;
}  // namespace inference

namespace tauto::model {

struct ConfigDocument::Impl {
  struct Places;  // where each field stands in `text`

  std::shared_ptr<const inference::ModelConfig> proto;
  std::shared_ptr<const Places> places;
  std::shared_ptr<const std::string> text;
  std::string file;
  bool completed = false;  // tensors came from the model file, scalars among them

  /// "FILE:LINE: PATH: MESSAGE". `path` is like "input[0].dims"; the line is that of the field, or
  /// of the nearest written field around it; without any it is left out.
  Error error_at(Code code, std::string_view path, std::string_view message) const;
  Error invalid(std::string_view path, std::string_view message) const {
    return error_at(Code::kInvalidArgument, path, message);
  }
  Error unsupported(std::string_view path, std::string_view message) const {
    return error_at(Code::kUnimplemented, path, "not supported yet: " + std::string(message));
  }
  /// For map entries, whose order the parser does not keep: the line is where "key" stands.
  Error invalid_entry(std::string_view path, std::string_view key, std::string_view message) const;
};

using Trouble = std::optional<Error>;

/// What Triton knows and we do not do yet, by name.
Trouble find_unsupported(const ConfigDocument::Impl& document);
/// Adds one line for each written field that is read but has no effect here.
void add_advisories(const ConfigDocument::Impl& document, Config& config);
/// Triton's validation rules. Inputs and outputs may be missing.
Trouble find_invalid(const ConfigDocument::Impl& document);

/// Fills in Triton's defaults: version policy, instance groups (AUTO becomes CPU), preferred sizes,
/// pinned memory.
void normalise(inference::ModelConfig& proto);

/// "input[2]".
std::string indexed(std::string_view field, int index);

}  // namespace tauto::model
