#include "wire/infer_parameters.h"

#include <algorithm>
#include <array>
#include <string>

namespace tauto::wire {
namespace {

constexpr std::string_view kTritonPrefix = "triton_";
constexpr std::string_view kOurPrefix = "tauto.";
constexpr std::string_view kLabelPrefix = "tauto.label.";
// Longer than any wait that is meant, short enough that now + wait does not overflow.
constexpr std::uint64_t kMicrosMax = std::uint64_t{100} * 365 * 86'400 * 1'000'000;

Duration from_micros(std::uint64_t us) {
  return Duration{static_cast<std::int64_t>(std::min(us, kMicrosMax) * 1000)};
}

Error invalid(std::string message) { return Error{Code::kInvalidArgument, std::move(message)}; }

/// The parameters with a meaning of their own; each may be set once.
enum Known : std::size_t {
  kPriority,
  kTimeout,
  kDeadline,
  kBinaryDataOutput,
  kSequenceId,
  kSequenceStart,
  kSequenceEnd,
  kKnownCount
};
constexpr std::array<std::string_view, kKnownCount> kKnownNames{
    "priority",    "timeout",        "deadline_us", "binary_data_output",
    "sequence_id", "sequence_start", "sequence_end"};

class Reader {
 public:
  Reader(const JsonSource& source, InferRequest& out) : source_(source), out_(out) {}

  Status read(std::string_view name, ondemand::value value) {
    if (name.size() > InferLimits::kNameMax) {
      return invalid("a parameter's name is longer than " + std::to_string(InferLimits::kNameMax) +
                     " bytes");
    }
    const auto known = std::find(kKnownNames.begin(), kKnownNames.end(), name);
    if (known != kKnownNames.end()) {
      const auto which = static_cast<std::size_t>(known - kKnownNames.begin());
      if (seen_[which]) return source_.check(value, kDepth);
      seen_[which] = true;
      return read_known(static_cast<Known>(which), name, value);
    }
    if (name.starts_with(kTritonPrefix)) {
      return invalid(
          "parameter keys starting with 'triton_' are reserved for Triton usage and should not be "
          "specified.");
    }
    if (name.starts_with(kLabelPrefix)) return read_label(name, value);
    if (name.starts_with(kOurPrefix)) {
      return invalid("unknown parameter '" + std::string(name) +
                     "': of the names that start with 'tauto.' a request may set "
                     "'tauto.label.<name>' only; its deadline is 'deadline_us'");
    }
    return read_custom(name, value);
  }

 private:
  static constexpr std::size_t kDepth = 3;  // of a parameter's value in the document

  Status read_known(Known which, std::string_view name, ondemand::value value) {
    const Spot spot{name};
    switch (which) {
      case kBinaryDataOutput:
        return read_flag(spot, value, out_.binary_data_output);
      case kSequenceStart:
        return read_flag(spot, value, out_.sequence_start);
      case kSequenceEnd:
        return read_flag(spot, value, out_.sequence_end);
      case kSequenceId:
        return read_sequence_id(spot, value);
      default:
        break;
    }
    TAUTO_ASSIGN_OR_RETURN(const std::uint64_t count, source_.count_of(spot, value));
    if (which == kPriority) {
      out_.priority = count;
    } else if (which == kTimeout) {
      if (count != 0) out_.timeout = from_micros(count);
    } else {
      if (count == 0) return source_.wrong(spot.text(), "microseconds, at least 1", value);
      out_.deadline = from_micros(count);
    }
    return Unit{};
  }

  Status read_flag(const Spot& spot, ondemand::value value, bool& out) {
    TAUTO_ASSIGN_OR_RETURN(out, source_.bool_of(spot, value));
    return Unit{};
  }

  Status read_sequence_id(const Spot& spot, ondemand::value value) {
    std::uint64_t number = 0;
    std::string_view text;
    if (value.get_uint64().get(number) == simdjson::SUCCESS) {
      out_.sequence_id = number;
    } else if (source_.text_of(value, text) == simdjson::SUCCESS) {
      out_.sequence_id = text;
    } else {
      return source_.wrong(spot.text(), "a whole number of at least 0 or a string", value);
    }
    return Unit{};
  }

  Status read_label(std::string_view name, ondemand::value value) {
    const std::string_view label = name.substr(kLabelPrefix.size());
    if (label.empty()) return invalid("parameter 'tauto.label.' needs a name after the last dot");
    TAUTO_ASSIGN_OR_RETURN(const auto text, source_.string_of(Spot{name}, value));
    if (text.size() > InferLimits::kLabelValueMax) {
      return invalid("parameter '" + std::string(name) + "' is longer than " +
                     std::to_string(InferLimits::kLabelValueMax) + " bytes");
    }
    const auto same = [&](const Label& l) { return l.name == label; };
    if (std::any_of(out_.labels.begin(), out_.labels.end(), same)) return Unit{};
    if (out_.labels.size() == InferLimits::kLabelsMax) {
      return invalid("a request may set at most " + std::to_string(InferLimits::kLabelsMax) +
                     " labels");
    }
    out_.labels.push_back({label, text});
    return Unit{};
  }

  Status read_custom(std::string_view name, ondemand::value value) {
    TAUTO_ASSIGN_OR_RETURN(const ParameterValue read, custom_value(name, value));
    const auto same = [&](const Parameter& p) { return p.name == name; };
    if (std::any_of(out_.parameters.begin(), out_.parameters.end(), same)) return Unit{};
    if (out_.parameters.size() == InferLimits::kInputsMax) {
      return invalid("a request may set at most " + std::to_string(InferLimits::kInputsMax) +
                     " parameters");
    }
    out_.parameters.push_back({name, read});
    return Unit{};
  }

  Result<ParameterValue> custom_value(std::string_view name, ondemand::value value) {
    ondemand::json_type type;
    if (const auto code = value.type().get(type)) return source_.broken(code);
    std::int64_t integer = 0;
    std::uint64_t large = 0;
    double number = 0;
    bool flag = false;
    std::string_view text;
    simdjson::error_code code = simdjson::INCORRECT_TYPE;
    if (type == ondemand::json_type::string) {
      if (!(code = source_.text_of(value, text))) return ParameterValue(text);
    } else if (type == ondemand::json_type::boolean) {
      if (!(code = value.get_bool().get(flag))) return ParameterValue(flag);
    } else if (type == ondemand::json_type::number) {
      if (!value.get_int64().get(integer)) return ParameterValue(integer);
      if (!value.get_uint64().get(large)) return ParameterValue(large);
      if (!(code = value.get_double().get(number))) return ParameterValue(number);
    } else {
      return invalid("parameter '" + std::string(name) +
                     "' has invalid type. It should be either 'int', 'bool', or 'string'.");
    }
    return source_.broken(code);
  }

  const JsonSource& source_;
  InferRequest& out_;
  std::array<bool, kKnownCount> seen_{};
};

}  // namespace

Status read_request_parameters(const JsonSource& source, ondemand::value value, InferRequest& out) {
  TAUTO_ASSIGN_OR_RETURN(auto object, source.object_of(Spot{"parameters"}, value));
  Reader reader(source, out);
  return for_each_field(source, object, [&](std::string_view name, ondemand::value field) {
    return reader.read(name, field);
  });
}

}  // namespace tauto::wire
