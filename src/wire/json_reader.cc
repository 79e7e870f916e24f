#include "wire/infer_request.h"
#include "wire/json_reader_impl.h"

namespace tauto::wire {
namespace {

constexpr std::size_t kExcerptMax = 40;

/// Length of the text that starts after an opening quote, when it has no escapes.
bool plain_length(const char* start, const char* end, std::size_t& length) {
  for (const char* p = start; p != end; ++p) {
    if (*p == '"') {
      length = static_cast<std::size_t>(p - start);
      return true;
    }
    if (*p == '\\') return false;
  }
  return false;
}

}  // namespace

std::string excerpt(ondemand::value value) {
  std::string_view token = value.raw_json_token();
  while (!token.empty() && static_cast<unsigned char>(token.back()) <= ' ') token.remove_suffix(1);
  if (token.size() <= kExcerptMax) return std::string(token);
  std::size_t cut = kExcerptMax;  // not inside a UTF-8 sequence
  while (cut > 0 && (static_cast<unsigned char>(token[cut]) & 0xc0) == 0x80) --cut;
  return std::string(token.substr(0, cut)) + "...";
}

std::string Spot::text() const {
  std::string text;
  if (!key.empty()) text += "'" + std::string(key) + "'";
  if (list.empty()) return text;
  if (!key.empty()) text += " of ";
  return text + std::string(list) + "[" + std::to_string(index) + "]";
}

Error JsonSource::broken(simdjson::error_code code) const {
  std::string message = "failed to parse the request JSON buffer: ";
  message += simdjson::error_message(code);
  const char* at = nullptr;
  if (document.current_location().get(at) == simdjson::SUCCESS && at >= text.data() &&
      at <= text.data() + text.size()) {
    message += " At " + std::to_string(at - text.data()) + ".";
  }
  return Error{Code::kInvalidArgument, std::move(message)};
}

Error JsonSource::wrong(const std::string& what, std::string_view expected,
                        ondemand::value value) const {
  std::string message = "Unable to parse ";
  message += what;
  message += ": expected ";
  message += expected;
  message += ", got ";
  message += excerpt(value);
  return Error{Code::kInvalidArgument, std::move(message)};
}

simdjson::error_code JsonSource::text_of(ondemand::value value, std::string_view& out) const {
  const std::string_view token = value.raw_json_token();
  if (token.empty() || token.front() != '"') return simdjson::INCORRECT_TYPE;
  std::size_t length = 0;
  if (plain_length(token.data() + 1, text.data() + text.size(), length)) {
    out = {token.data() + 1, length};
    ondemand::raw_json_string raw;
    return value.get_raw_json_string().get(raw);  // moves past it
  }
  std::string_view unescaped;
  if (const auto code = value.get_string().get(unescaped)) return code;
  out = arena.copy(unescaped);
  return simdjson::SUCCESS;
}

simdjson::error_code JsonSource::key_of(ondemand::field& field, std::string_view& out) const {
  const char* start = field.key().raw();
  std::size_t length = 0;
  if (plain_length(start, text.data() + text.size(), length)) {
    out = {start, length};
    return simdjson::SUCCESS;
  }
  std::string_view unescaped;
  if (const auto code = field.unescaped_key().get(unescaped)) return code;
  out = arena.copy(unescaped);
  return simdjson::SUCCESS;
}

Status JsonSource::check(ondemand::value value, std::size_t depth) const {
  if (depth > InferLimits::kDepthMax) return broken(simdjson::DEPTH_ERROR);
  ondemand::json_type type;
  if (const auto code = value.type().get(type)) return broken(code);
  simdjson::error_code code = simdjson::SUCCESS;
  switch (type) {
    case ondemand::json_type::array: {
      ondemand::array array;
      if ((code = value.get_array().get(array))) break;
      return for_each_element(*this, array,
                              [&](std::size_t, ondemand::value v) { return check(v, depth + 1); });
    }
    case ondemand::json_type::object: {
      ondemand::object object;
      if ((code = value.get_object().get(object))) break;
      return for_each_field(
          *this, object, [&](std::string_view, ondemand::value v) { return check(v, depth + 1); });
    }
    case ondemand::json_type::number: {
      double number = 0;
      code = value.get_double().get(number);
      break;
    }
    case ondemand::json_type::string: {
      std::string_view string;
      code = value.get_string().get(string);
      break;
    }
    case ondemand::json_type::boolean: {
      bool flag = false;
      code = value.get_bool().get(flag);
      break;
    }
    case ondemand::json_type::null: {
      bool null = false;
      code = value.is_null().get(null);
      if (!code && !null) code = simdjson::N_ATOM_ERROR;
      break;
    }
  }
  if (code) return broken(code);
  return Unit{};
}

Result<bool> JsonSource::bool_of(const Spot& spot, ondemand::value value) const {
  bool flag = false;
  if (value.get_bool().get(flag)) return wrong(spot.text(), "true or false", value);
  return flag;
}

Result<std::uint64_t> JsonSource::count_of(const Spot& spot, ondemand::value value) const {
  std::uint64_t count = 0;
  if (value.get_uint64().get(count))
    return wrong(spot.text(), "a whole number of at least 0", value);
  return count;
}

Result<std::string_view> JsonSource::string_of(const Spot& spot, ondemand::value value) const {
  std::string_view string;
  if (text_of(value, string)) return wrong(spot.text(), "a string", value);
  return string;
}

Result<ondemand::array> JsonSource::array_of(const Spot& spot, ondemand::value value) const {
  ondemand::array array;
  if (value.get_array().get(array)) return wrong(spot.text(), "an array", value);
  return array;
}

Result<ondemand::object> JsonSource::object_of(const Spot& spot, ondemand::value value) const {
  ondemand::object object;
  if (value.get_object().get(object)) return wrong(spot.text(), "an object", value);
  return object;
}

}  // namespace tauto::wire
