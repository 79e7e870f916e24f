#include "wire/infer_json.h"

#include <algorithm>
#include <optional>
#include <string>

#include "wire/infer_parameters.h"
#include "wire/json_tensor.h"

namespace tauto::wire {
namespace {

constexpr std::size_t kDataDepth = 4;   // of an input's `data` in the document
constexpr std::size_t kOtherDepth = 4;  // at most, of members that nobody reads
constexpr std::size_t kRankMax = Shape::kRankMax;

Error invalid(std::string message) { return Error{Code::kInvalidArgument, std::move(message)}; }

Error ends_wrongly() {
  return invalid(
      "failed to parse the request JSON buffer: it was cut off, or something follows the JSON "
      "document; binary tensors need the header Inference-Header-Content-Length");
}

Error missing(std::string_view key, const std::string& where) {
  return invalid("Unable to parse '" + std::string(key) +
                 "': attempt to access non-existing object member '" + std::string(key) + "' in " +
                 where);
}

Status check_name(std::string_view name, const Spot& entry) {
  if (name.size() <= InferLimits::kNameMax) return Unit{};
  return invalid("the name of " + entry.text() + " is longer than " +
                 std::to_string(InferLimits::kNameMax) + " bytes");
}

/// What one entry of `inputs` says, while it is being read.
struct InputFields {
  std::size_t index;
  std::optional<std::string_view> name;
  std::optional<Shape> shape;
  std::optional<DataType> type;
  std::string_view type_text;
  bool type_seen = false;
  bool has_parameters = false;
  std::optional<std::uint64_t> binary_size;
  bool has_region = false;
  bool has_data = false;
  std::size_t data_field = 0;  // which field of the entry `data` is
  bool data_read = false;
  std::span<const std::byte> data;

  Spot spot(std::string_view key) const { return {key, "inputs", index}; }
  Spot entry() const { return spot(""); }
};

class InputReader {
 public:
  InputReader(const JsonSource& source, std::size_t index) : source_(source) { in_.index = index; }

  Status read(ondemand::value value) {
    TAUTO_ASSIGN_OR_RETURN(auto object, source_.object_of(in_.entry(), value));
    std::size_t field = 0;
    TAUTO_RETURN_IF_ERROR(for_each_field(
        source_, object,
        [&](std::string_view key, ondemand::value v) { return read_field(key, v, field++); }));
    TAUTO_RETURN_IF_ERROR(check_complete());
    if (in_.has_data && !in_.data_read) return read_data_again(object);
    return Unit{};
  }

  const InputFields& fields() const { return in_; }

 private:
  Status read_field(std::string_view key, ondemand::value value, std::size_t field) {
    if (key == "name" && !in_.name) {
      TAUTO_ASSIGN_OR_RETURN(in_.name, source_.string_of(in_.spot(key), value));
      return check_name(*in_.name, in_.entry());
    }
    if (key == "datatype" && !in_.type_seen) {
      in_.type_seen = true;
      TAUTO_ASSIGN_OR_RETURN(in_.type_text, source_.string_of(in_.spot(key), value));
      in_.type = data_type_from_protocol(in_.type_text);
      return Unit{};
    }
    if (key == "shape" && !in_.shape) return read_shape(value);
    if (key == "parameters" && !in_.has_parameters) return read_parameters(value);
    if (key == "data" && !in_.has_data) {
      in_.has_data = true;
      in_.data_field = field;
      if (in_.name && in_.shape && in_.type) return read_data(value);
      return Unit{};  // read when its type and shape are known
    }
    return source_.check(value, kOtherDepth);
  }

  Status read_shape(ondemand::value value) {
    TAUTO_ASSIGN_OR_RETURN(auto array, source_.array_of(in_.spot("shape"), value));
    in_.shape.emplace();
    return for_each_element(source_, array, [&](std::size_t i, ondemand::value dim) -> Status {
      if (i == kRankMax) {
        return invalid("Unable to parse " + in_.spot("shape").text() + ": more than " +
                       std::to_string(kRankMax) + " dimensions are not supported");
      }
      std::uint64_t size = 0;
      if (dim.get_uint64().get(size) || size > INT64_MAX) {
        return source_.wrong(in_.spot("shape").text() + ", dimension " + std::to_string(i),
                             "a whole number of at least 0", dim);
      }
      in_.shape->push_back(static_cast<std::int64_t>(size));
      return Unit{};
    });
  }

  Status read_parameters(ondemand::value value) {
    in_.has_parameters = true;
    TAUTO_ASSIGN_OR_RETURN(auto object, source_.object_of(in_.spot("parameters"), value));
    return for_each_field(source_, object, [&](std::string_view key, ondemand::value v) -> Status {
      if (key == "binary_data_size" && !in_.binary_size) {
        TAUTO_ASSIGN_OR_RETURN(in_.binary_size, source_.count_of(in_.spot(key), v));
        return Unit{};
      }
      if (key == "shared_memory_region") in_.has_region = true;
      return source_.check(v, kOtherDepth);
    });
  }

  Status check_complete() {
    if (!in_.name) return missing("name", in_.entry().text());
    if (!in_.shape) return missing("shape", in_.entry().text());
    if (!in_.type_seen) return missing("datatype", in_.entry().text());
    if (!in_.type) return invalid("invalid datatype for input " + std::string(*in_.name));
    const int set = int{in_.has_data} + int{in_.binary_size.has_value()} + int{in_.has_region};
    if (set != 1) return source_error(set);
    if (in_.has_region) {
      return Error{Code::kUnimplemented,
                   "input '" + std::string(*in_.name) +
                       "' asks for shared_memory_region: shared memory is not supported, send "
                       "'data' or 'binary_data_size'"};
    }
    if (!in_.shape->element_count()) {
      return invalid("the shape " + in_.shape->to_string() + " of input '" +
                     std::string(*in_.name) + "' has more elements than a request can hold");
    }
    return Unit{};
  }

  Error source_error(int set) const {
    std::string message =
        "Input must set only one of the following fields: 'data', 'binary_data_size' in "
        "'parameters', 'shared_memory_region' in 'parameters'. But ";
    message += set == 0 ? "no field is set" : "set";
    if (in_.has_data) message += " 'data'";
    if (in_.binary_size) message += " 'binary_data_size'";
    if (in_.has_region) message += " 'shared_memory_region'";
    return invalid(std::move(message));
  }

  Status read_data(ondemand::value value) {
    in_.data_read = true;
    TAUTO_ASSIGN_OR_RETURN(auto array, source_.array_of(in_.spot("data"), value));
    const auto elements = in_.shape->element_count();
    if (!elements) return Unit{};  // check_complete() says so
    const JsonTensor tensor{*in_.name, *in_.type, *in_.shape, static_cast<std::size_t>(*elements),
                            kDataDepth};
    TAUTO_ASSIGN_OR_RETURN(in_.data, read_json_tensor(source_, tensor, array));
    return Unit{};
  }

  /// `data` stood before what explains it. Counted, not looked up by key: simdjson unescapes each
  /// key once only.
  Status read_data_again(ondemand::object& object) {
    if (const auto code = object.reset().error()) return source_.broken(code);
    std::size_t field = 0;
    for (auto item : object) {
      ondemand::field f;
      if (const auto code = std::move(item).get(f)) return source_.broken(code);
      if (field++ == in_.data_field) TAUTO_RETURN_IF_ERROR(read_data(f.value()));
    }
    return Unit{};
  }

  const JsonSource& source_;
  InputFields in_;
};

class RequestReader {
 public:
  RequestReader(const JsonSource& source, std::vector<std::size_t>& binary_sizes, InferRequest& out)
      : source_(source), binary_sizes_(binary_sizes), out_(out) {}

  Status read(ondemand::object& root) {
    TAUTO_RETURN_IF_ERROR(for_each_field(
        source_, root,
        [&](std::string_view key, ondemand::value value) { return read_member(key, value); }));
    if (!has_inputs_) return missing("inputs", "the request");
    return check_names();
  }

 private:
  Status read_member(std::string_view key, ondemand::value value) {
    if (key == "id" && first(has_id_)) return read_id(value);
    if (key == "parameters" && first(has_parameters_)) {
      return read_request_parameters(source_, value, out_);
    }
    if (key == "inputs" && first(has_inputs_)) return read_inputs(value);
    if (key == "outputs" && first(has_outputs_)) return read_outputs(value);
    return source_.check(value, kOtherDepth);
  }

  static Spot output_spot(std::string_view key, std::size_t index) {
    return {key, "outputs", index};
  }
  static bool first(bool& seen) { return !std::exchange(seen, true); }

  Status read_id(ondemand::value value) {
    TAUTO_ASSIGN_OR_RETURN(const auto id, source_.string_of(Spot{"id"}, value));
    if (id.size() > InferLimits::kIdMax) {
      return invalid("'id' is longer than " + std::to_string(InferLimits::kIdMax) + " bytes");
    }
    out_.id = id;
    return Unit{};
  }

  Status read_inputs(ondemand::value value) {
    TAUTO_ASSIGN_OR_RETURN(auto array, source_.array_of(Spot{"inputs"}, value));
    return for_each_element(source_, array, [&](std::size_t i, ondemand::value v) -> Status {
      if (i == InferLimits::kInputsMax) return too_many("inputs");
      InputReader reader(source_, i);
      TAUTO_RETURN_IF_ERROR(reader.read(v));
      const InputFields& in = reader.fields();
      out_.inputs.push_back(
          {*in.name, TensorView{*in.type, *in.shape, in.data}, in.binary_size.has_value()});
      if (in.binary_size) binary_sizes_.push_back(*in.binary_size);
      return Unit{};
    });
  }

  Status read_outputs(ondemand::value value) {
    TAUTO_ASSIGN_OR_RETURN(auto array, source_.array_of(Spot{"outputs"}, value));
    return for_each_element(source_, array, [&](std::size_t i, ondemand::value v) -> Status {
      if (i == InferLimits::kInputsMax) return too_many("outputs");
      return read_output(i, v);
    });
  }

  Status read_output(std::size_t index, ondemand::value value) {
    TAUTO_ASSIGN_OR_RETURN(auto object, source_.object_of(output_spot("", index), value));
    RequestedOutput output;
    bool has_name = false;
    bool has_parameters = false;
    TAUTO_RETURN_IF_ERROR(
        for_each_field(source_, object, [&](std::string_view key, ondemand::value v) -> Status {
          if (key == "name" && first(has_name)) {
            TAUTO_ASSIGN_OR_RETURN(output.name, source_.string_of(output_spot(key, index), v));
            return check_name(output.name, output_spot("", index));
          }
          if (key == "parameters" && first(has_parameters)) {
            return read_output_parameters(index, v, output);
          }
          return source_.check(v, kOtherDepth);
        }));
    if (!has_name) return missing("name", output_spot("", index).text());
    const auto same = [&](const RequestedOutput& o) { return o.name == output.name; };
    if (std::none_of(out_.outputs.begin(), out_.outputs.end(), same)) {
      out_.outputs.push_back(output);
    }
    return Unit{};
  }

  Status read_output_parameters(std::size_t index, ondemand::value value, RequestedOutput& output) {
    TAUTO_ASSIGN_OR_RETURN(auto object, source_.object_of(output_spot("parameters", index), value));
    return for_each_field(source_, object, [&](std::string_view key, ondemand::value v) -> Status {
      if (key == "binary_data" && !output.binary) {
        TAUTO_ASSIGN_OR_RETURN(output.binary, source_.bool_of(output_spot(key, index), v));
        return Unit{};
      }
      if (key == "classification" && !output.classification) {
        TAUTO_ASSIGN_OR_RETURN(const auto k, source_.count_of(output_spot(key, index), v));
        if (k != 0) output.classification = k;
        return Unit{};
      }
      if (key == "shared_memory_region") {
        return Error{Code::kUnimplemented,
                     output_spot("", index).text() +
                         " asks for shared_memory_region: shared memory is not supported, "
                         "leave it out to get the output in the response"};
      }
      return source_.check(v, kOtherDepth);
    });
  }

  Error too_many(std::string_view list) const {
    return invalid("a request may have at most " + std::to_string(InferLimits::kInputsMax) + " " +
                   std::string(list));
  }

  Status check_names() const {
    for (std::size_t i = 1; i < out_.inputs.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (out_.inputs[i].name == out_.inputs[j].name) {
          return invalid(request_id_prefix(out_.id) + "input '" + std::string(out_.inputs[i].name) +
                         "' already exists in request");
        }
      }
    }
    return Unit{};
  }

  const JsonSource& source_;
  std::vector<std::size_t>& binary_sizes_;
  InferRequest& out_;
  bool has_id_ = false;
  bool has_parameters_ = false;
  bool has_inputs_ = false;
  bool has_outputs_ = false;
};

}  // namespace

Status read_infer_json(const JsonSource& source, std::vector<std::size_t>& binary_sizes,
                       InferRequest& out) {
  ondemand::object root;
  if (const auto code = source.document.get_object().get(root)) {
    if (code == simdjson::INCORRECT_TYPE) {
      return invalid("the request must be a JSON object with 'inputs'");
    }
    return code == simdjson::INCOMPLETE_ARRAY_OR_OBJECT ? ends_wrongly() : source.broken(code);
  }
  TAUTO_RETURN_IF_ERROR(RequestReader(source, binary_sizes, out).read(root));
  const char* rest = nullptr;
  if (source.document.current_location().get(rest) == simdjson::SUCCESS) {
    return ends_wrongly();
  }
  return Unit{};
}

}  // namespace tauto::wire
