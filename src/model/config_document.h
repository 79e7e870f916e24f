#pragma once
// A config.pbtxt as it was written, with the place of every field. Immutable; copies are cheap.
// protobuf stays behind the pointer.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "engine/engine.h"
#include "model/config.h"

namespace tauto::model {

/// Threads: any, it never changes.
class ConfigDocument {
 public:
  /// Text of at most kTextBytesMax. Errors: kInvalidArgument "FILE:LINE: ..." for text that is not
  /// protobuf text format or names an unknown field; kUnimplemented "FILE:LINE: FIELD: not
  /// supported yet: ..." for what is known but cannot be honoured here. `file` is only shown.
  static Result<ConfigDocument> parse(std::string_view text, std::string_view file);
  static constexpr std::size_t kTextBytesMax = std::size_t{4} << 20;

  /// A copy that has this name, or an Error when another one is written.
  Result<ConfigDocument> named(std::string_view name) const;
  /// A copy with backend, platform and file name of an ONNX model, where one of them says that it
  /// is one, or nothing is written and `onnx_file` ("" = there is none) was found.
  ConfigDocument with_backend_completed(std::string_view onnx_file) const;

  std::string name() const;
  /// True when inputs or outputs are missing, so that the model file has to tell them.
  bool incomplete() const;
  VersionPolicy version_policy() const;

  struct Impl;
  const Impl& impl() const { return *impl_; }
  explicit ConfigDocument(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

 private:
  std::shared_ptr<const Impl> impl_;
};

/// Validates (Triton's rules) and translates. Inputs and outputs may still be missing.
/// Errors: kInvalidArgument or kUnimplemented, "FILE:LINE: FIELD: what is wrong and what to do".
Result<Config> make_config(const ConfigDocument& document);

/// parse() and make_config() in one.
Result<Config> parse_config(std::string_view text, std::string_view file);

}  // namespace tauto::model
