#include "lab/kserve.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/json_writer.h"
#include "base/text.h"
#include "lab/random_tensor.h"

namespace tauto::lab {
namespace {

using Json = nlohmann::json;

Error bad_metadata(const std::string& what) {
  return Error{Code::kInvalidArgument, "the server's model metadata " + what};
}

Result<TensorSpec> parse_input(const Json& json) {
  if (!json.is_object() || !json.contains("name") || !json["name"].is_string() ||
      !json.contains("datatype") || !json["datatype"].is_string() || !json.contains("shape") ||
      !json["shape"].is_array()) {
    return bad_metadata("has an input without name, datatype and shape");
  }
  TensorSpec spec;
  spec.name = json["name"].get<std::string>();
  const auto type_name = json["datatype"].get<std::string>();
  const auto type = data_type_from_protocol(type_name);
  if (!type) return bad_metadata("has an input of unknown type " + type_name);
  spec.type = *type;
  if (!Shape::fits(json["shape"].size()))
    return bad_metadata("has an input of too many dimensions");
  for (const auto& dim : json["shape"]) {
    if (dim.is_number_integer()) {
      spec.dims.push_back(dim.get<std::int64_t>());
    } else if (dim.is_string()) {  // some servers write numbers as protobuf's JSON does
      spec.dims.push_back(std::atoll(dim.get<std::string>().c_str()));
    } else {
      return bad_metadata("has a dimension that is not a number");
    }
  }
  return spec;
}

/// The shape given by --shape for `input`, completed by the batch where it was left out.
Result<Shape> shape_from_flag(const TensorSpec& input, const Shape& given, std::int64_t rows,
                              bool batched, bool rows_asked) {
  if (given.rank() == input.dims.rank()) {
    if (batched && rows_asked && given[0] != rows) {
      return Error{Code::kInvalidArgument, "--shape " + input.name + " begins with " +
                                               std::to_string(given[0]) + ", but --batch is " +
                                               std::to_string(rows)};
    }
    return given;
  }
  if (batched && given.rank() + 1 == input.dims.rank()) {
    Shape full{rows};
    for (const auto d : given.dims()) full.push_back(d);
    return full;
  }
  return Error{Code::kInvalidArgument,
               "--shape " + input.name + " has " + std::to_string(given.rank()) +
                   " dimensions, the model's input is " + input.dims.to_string()};
}

Result<Shape> concrete_shape(const TensorSpec& input, const KserveModel& model,
                             const KserveRequestOptions& options) {
  const auto rows = static_cast<std::int64_t>(options.batch_rows.value_or(1));
  const bool batched = input.dims.rank() > 0 && input.dims[0] == -1 &&
                       (model.batch_rows_max > 0 || options.batch_rows.has_value());
  Shape shape = input.dims;
  if (batched) shape[0] = rows;
  for (const auto& [name, given] : options.shapes) {
    if (name != input.name) continue;
    TAUTO_ASSIGN_OR_RETURN(
        shape, shape_from_flag(input, given, rows, batched, options.batch_rows.has_value()));
  }
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    if (shape[i] < 0) {
      return Error{Code::kInvalidArgument,
                   "input '" + input.name + "' has the shape " + input.dims.to_string() +
                       ": give the open dimensions, for example --shape " + input.name + ":1,128"};
    }
    if (input.dims[i] >= 0 && input.dims[i] != shape[i]) {
      return Error{Code::kInvalidArgument, "--shape " + input.name + " is " + shape.to_string() +
                                               ", the model's input is " + input.dims.to_string()};
    }
  }
  if (!shape.element_count()) {
    return Error{Code::kInvalidArgument, "input '" + input.name + "' is too large"};
  }
  return shape;
}

}  // namespace

Result<KserveModel> parse_kserve_model(std::string_view metadata, std::string_view config) {
  const auto json = Json::parse(metadata, nullptr, false);
  if (!json.is_object() || !json.contains("inputs") || !json["inputs"].is_array()) {
    return bad_metadata("lists no inputs");
  }
  KserveModel model;
  if (json.contains("name") && json["name"].is_string()) model.name = json["name"];
  for (const auto& input : json["inputs"]) {
    TAUTO_ASSIGN_OR_RETURN(auto spec, parse_input(input));
    model.inputs.push_back(std::move(spec));
  }
  const auto parsed = Json::parse(config, nullptr, false);
  if (parsed.is_object() && parsed.contains("max_batch_size") &&
      parsed["max_batch_size"].is_number_integer()) {
    model.batch_rows_max =
        static_cast<std::uint32_t>(std::max<std::int64_t>(0, parsed["max_batch_size"]));
  }
  return model;
}

Result<std::vector<TensorSpec>> concrete_inputs(const KserveModel& model,
                                                const KserveRequestOptions& options) {
  for (const auto& [name, shape] : options.shapes) {
    const bool known = std::any_of(model.inputs.begin(), model.inputs.end(),
                                   [&, &n = name](const auto& i) { return i.name == n; });
    if (known) continue;
    std::vector<std::string_view> names;
    for (const auto& input : model.inputs) names.push_back(input.name);
    const auto near = nearest_word(name, names);
    return Error{Code::kInvalidArgument,
                 "--shape: the model has no input '" + name + "'" +
                     (near.empty() ? "" : "; did you mean '" + std::string(near) + "'?")};
  }
  if (model.batch_rows_max > 0 && options.batch_rows.value_or(1) > model.batch_rows_max) {
    return Error{Code::kInvalidArgument, "--batch is larger than the model's max_batch_size " +
                                             std::to_string(model.batch_rows_max)};
  }
  std::vector<TensorSpec> inputs;
  for (const auto& input : model.inputs) {
    TensorSpec spec = input;
    TAUTO_ASSIGN_OR_RETURN(spec.dims, concrete_shape(input, model, options));
    inputs.push_back(std::move(spec));
  }
  return inputs;
}

Result<KserveBody> make_kserve_body(const std::vector<TensorSpec>& inputs,
                                    const KserveRequestOptions& options, SplitMix64& random) {
  KserveBody body;
  std::string raw;
  JsonWriter json(body.bytes);
  json.begin_object();
  if (options.deadline || options.binary) {
    json.key("parameters").begin_object();
    if (options.deadline) json.field("deadline_us", to_ns(*options.deadline) / 1000);
    if (options.binary) json.field("binary_data_output", true);
    json.end_object();
  }
  json.key("inputs").begin_array();
  for (const auto& input : inputs) {
    json.begin_object().field("name", std::string_view(input.name));
    json.key("shape").begin_array();
    for (const auto d : input.dims.dims()) json.value(d);
    json.end_array().field("datatype", protocol_name(input.type));
    if (options.binary) {
      const auto before = raw.size();
      append_random_binary(raw, input, options.int_max, random);
      json.key("parameters").begin_object();
      json.field("binary_data_size", raw.size() - before).end_object();
    } else if (input.type == DataType::kFp16 || input.type == DataType::kBf16) {
      return Error{Code::kInvalidArgument, "input '" + input.name + "' is " +
                                               std::string(protocol_name(input.type)) +
                                               ", which JSON cannot carry: leave out "
                                               "--json-tensors"};
    } else {
      json.key("data");
      write_random_json(json, input, options.int_max, random);
    }
    json.end_object();
  }
  json.end_array().end_object();
  if (options.binary) {
    body.json_bytes = body.bytes.size();
    body.bytes += raw;
  }
  return body;
}

Result<std::string> add_deadline(std::string_view body, Duration deadline) {
  auto json = Json::parse(body, nullptr, false);
  if (!json.is_object()) {
    return Error{Code::kInvalidArgument, "--deadline needs JSON objects as bodies"};
  }
  auto& parameters = json["parameters"];
  if (!parameters.is_object()) parameters = Json::object();
  parameters["deadline_us"] = to_ns(deadline) / 1000;
  return json.dump();
}

Result<std::pair<std::string, Shape>> parse_shape_flag(std::string_view text) {
  const Error refused{Code::kInvalidArgument,
                      "'" + std::string(text) +
                          "' is not a shape: write the input's name and its "
                          "dimensions, for example input_ids:1,128"};
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return refused;
  std::pair<std::string, Shape> result{std::string(text.substr(0, colon)), Shape{}};
  auto rest = text.substr(colon + 1);
  while (!rest.empty()) {
    const auto comma = std::min(rest.find(','), rest.size());
    auto dim = parse_count(rest.substr(0, comma), 0, std::uint64_t{1} << 40);
    if (!dim.ok() || !Shape::fits(result.second.rank() + 1)) return refused;
    result.second.push_back(static_cast<std::int64_t>(dim.value()));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  if (result.second.rank() == 0) return refused;
  return result;
}

std::string error_words(std::string_view body) {
  const auto json = Json::parse(body, nullptr, false);
  if (json.is_object() && json.contains("error") && json["error"].is_string()) {
    return json["error"].get<std::string>();
  }
  return std::string(body.substr(0, 200));
}

}  // namespace tauto::lab
