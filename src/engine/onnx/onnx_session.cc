#include "engine/onnx/onnx_session.h"

#include <algorithm>

namespace tauto::engine::onnx {
namespace {

Error invalid(std::string message) { return Error{Code::kInvalidArgument, std::move(message)}; }

std::string quoted(const std::string& name) { return "'" + name + "'"; }

/// Names, types and dims of one of a session's three lists.
struct Listing {
  const char* kind;  // "input", "output"
  OrtStatus* (*count)(const OrtSession*, std::size_t*) noexcept;
  OrtStatus* (*type)(const OrtSession*, std::size_t, OrtTypeInfo**) noexcept;
  OrtStatus* (*name)(const OrtSession*, std::size_t, OrtAllocator*, char**) noexcept;
};

Result<std::string> name_of(const Session& s, const Listing& listing, std::size_t index) {
  const OrtApi& api = s.library->api;
  OrtAllocator* allocator = nullptr;
  TAUTO_RETURN_IF_ERROR(check(api, api.GetAllocatorWithDefaultOptions(&allocator)));
  char* text = nullptr;
  TAUTO_RETURN_IF_ERROR(check(api, listing.name(s.session.get(), index, allocator, &text)));
  std::string name = text;
  TAUTO_RETURN_IF_ERROR(check(api, api.AllocatorFree(allocator, text)));
  return name;
}

/// kInvalid type = no tensor (a sequence, a map).
Result<TensorSpec> spec_of(const Session& s, const Listing& listing, std::size_t index) {
  const OrtApi& api = s.library->api;
  TensorSpec spec;
  TAUTO_ASSIGN_OR_RETURN(spec.name, name_of(s, listing, index));
  TAUTO_ASSIGN_OR_RETURN(const auto type, make<OrtTypeInfo>(api, api.ReleaseTypeInfo, listing.type,
                                                            s.session.get(), index));
  const OrtTensorTypeAndShapeInfo* info = nullptr;  // belongs to `type`
  TAUTO_RETURN_IF_ERROR(check(api, api.CastTypeInfoToTensorInfo(type.get(), &info)));
  if (info == nullptr) return spec;
  ONNXTensorElementDataType element{};
  TAUTO_RETURN_IF_ERROR(check(api, api.GetTensorElementType(info, &element)));
  const auto known = from_onnx(element);
  if (!known) {
    return invalid(std::string(listing.kind) + " " + quoted(spec.name) + " has ONNX element type " +
                   std::to_string(element) + ", which the KServe protocol does not have");
  }
  spec.type = *known;
  std::size_t rank = 0;
  TAUTO_RETURN_IF_ERROR(check(api, api.GetDimensionsCount(info, &rank)));
  if (!Shape::fits(rank)) {
    return invalid(std::string(listing.kind) + " " + quoted(spec.name) + " has " +
                   std::to_string(rank) + " dimensions; " + std::to_string(Shape::kRankMax) +
                   " are supported");
  }
  std::array<std::int64_t, Shape::kRankMax> dims{};
  TAUTO_RETURN_IF_ERROR(check(api, api.GetDimensions(info, dims.data(), rank)));
  for (std::size_t d = 0; d < rank; ++d) spec.dims.push_back(dims[d] < 0 ? -1 : dims[d]);
  return spec;
}

bool names(const std::vector<TensorSpec>& specs, const std::string& name) {
  return std::any_of(specs.begin(), specs.end(),
                     [&name](const TensorSpec& spec) { return spec.name == name; });
}

/// `passed_over`: whether something that is no tensor may be left out.
template <class PassedOver>
Status list(const Session& s, const Listing& listing, std::vector<TensorSpec>& out,
            PassedOver passed_over) {
  std::size_t count = 0;
  TAUTO_RETURN_IF_ERROR(check(s.library->api, listing.count(s.session.get(), &count)));
  for (std::size_t i = 0; i < count; ++i) {
    TAUTO_ASSIGN_OR_RETURN(auto spec, spec_of(s, listing, i));
    if (spec.type != DataType::kInvalid) {
      out.push_back(std::move(spec));
    } else if (!passed_over(spec.name)) {
      return invalid(std::string(listing.kind) + " " + quoted(spec.name) +
                     " is no tensor but a sequence or map; export the model without it (scikit-"
                     "learn: zipmap=False) or list only the other outputs in the config");
    }
  }
  return Unit{};
}

std::string described(DataType type, const Shape& dims) {
  return std::string(protocol_name(type)) + dims.to_string();
}

Status check_tensor(const char* kind, const TensorSpec& file, const TensorSpec& config,
                    bool batched) {
  const std::string where = std::string(kind) + " " + quoted(config.name);
  Shape expected;
  if (batched) expected.push_back(-1);
  for (const auto d : config.dims.dims()) expected.push_back(d);
  const std::string differ = where + ": the model file has " + described(file.type, file.dims) +
                             ", the config says " + described(config.type, expected) +
                             (batched ? " (with its batch dimension)" : "");
  if (file.type != config.type) return invalid(differ);
  // Outputs whose shape the exporter left out look like scalars.
  const bool output = kind == std::string_view("output");
  if (output && file.dims.rank() == 0) return Unit{};
  if (file.dims.rank() != expected.rank()) return invalid(differ);
  for (std::size_t d = 0; d < expected.rank(); ++d) {
    if (batched && d == 0) {
      if (output || file.dims[0] < 0) continue;
      return invalid(differ + "; a file with a fixed first dimension needs max_batch_size: 0");
    }
    if (file.dims[d] >= 0 && expected[d] >= 0 && file.dims[d] != expected[d]) {
      return invalid(differ);
    }
  }
  return Unit{};
}

Status check_tensors(const char* kind, const std::vector<TensorSpec>& file,
                     const std::vector<TensorSpec>& more, const Signature& signature) {
  const bool input = kind == std::string_view("input");
  for (const auto& spec : input ? signature.inputs : signature.outputs) {
    const auto same_name = [&spec](const TensorSpec& other) { return other.name == spec.name; };
    const auto at = std::find_if(file.begin(), file.end(), same_name);
    const auto also = std::find_if(more.begin(), more.end(), same_name);
    if (at == file.end() && also == more.end()) {
      std::string known;
      for (const auto& other : file) known += (known.empty() ? "" : ", ") + quoted(other.name);
      return invalid("the model file has no " + std::string(kind) + " " + quoted(spec.name) +
                     "; it has " + (known.empty() ? "none" : known));
    }
    const bool batched = signature.rows_max > 0 && at != file.end();
    TAUTO_RETURN_IF_ERROR(check_tensor(kind, at != file.end() ? *at : *also, spec, batched));
  }
  return Unit{};
}

}  // namespace

Status describe(Session& session, const Signature& declared) {
  const OrtApi& api = session.library->api;
  const auto never = [](const std::string&) { return false; };
  const auto always = [](const std::string&) { return true; };
  const auto undeclared = [&declared](const std::string& name) {
    return !declared.outputs.empty() && !names(declared.outputs, name);
  };
  TAUTO_RETURN_IF_ERROR(list(
      session,
      {"input", api.SessionGetInputCount, api.SessionGetInputTypeInfo, api.SessionGetInputName},
      session.description.inputs, never));
  TAUTO_RETURN_IF_ERROR(list(
      session,
      {"output", api.SessionGetOutputCount, api.SessionGetOutputTypeInfo, api.SessionGetOutputName},
      session.description.outputs, undeclared));
  return list(
      session,
      {"input", api.SessionGetOverridableInitializerCount,
       api.SessionGetOverridableInitializerTypeInfo, api.SessionGetOverridableInitializerName},
      session.optional_inputs, always);
}

Status check_signature(const Session& session, const Signature& signature) {
  for (const auto& spec : session.description.inputs) {
    if (!names(signature.inputs, spec.name)) {
      return invalid("the model file needs input " + quoted(spec.name) + " " +
                     described(spec.type, spec.dims) + ", which the config lacks");
    }
  }
  if (signature.outputs.empty()) return invalid("the config names no output");
  TAUTO_RETURN_IF_ERROR(
      check_tensors("input", session.description.inputs, session.optional_inputs, signature));
  return check_tensors("output", session.description.outputs, {}, signature);
}

}  // namespace tauto::engine::onnx
