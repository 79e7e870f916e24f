#include "engine/synthetic_settings.h"

#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <limits>

#include "base/text.h"

namespace tauto::engine {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kPrefix = "tauto.synthetic.";
constexpr std::string_view kOutputPrefix = "tauto.synthetic.output.";
constexpr std::array kNames = {"tauto.synthetic.fixed"sv,
                               "tauto.synthetic.per_row"sv,
                               "delay_a_us"sv,
                               "delay_c_us"sv,
                               "tauto.synthetic.profile"sv,
                               "tauto.synthetic.mode"sv,
                               "delay_mode"sv,
                               "tauto.synthetic.jitter"sv,
                               "tauto.synthetic.seed"sv,
                               "tauto.synthetic.bind_delay"sv,
                               "tauto.synthetic.compute_delay"sv,
                               "tauto.synthetic.unbind_delay"sv,
                               "tauto.synthetic.output"sv,
                               "tauto.synthetic.fail_every"sv};
constexpr std::string_view kTwins[][2] = {{"tauto.synthetic.fixed", "delay_a_us"},
                                          {"tauto.synthetic.per_row", "delay_c_us"},
                                          {"tauto.synthetic.mode", "delay_mode"},
                                          {"tauto.synthetic.profile", "tauto.synthetic.fixed"},
                                          {"tauto.synthetic.profile", "tauto.synthetic.per_row"},
                                          {"tauto.synthetic.profile", "delay_a_us"},
                                          {"tauto.synthetic.profile", "delay_c_us"}};

Error invalid(std::string message) { return Error{Code::kInvalidArgument, std::move(message)}; }

Result<Wait> parse_wait(std::string_view text) {
  if (text == "spin") return Wait::kSpin;
  if (text == "sleep") return Wait::kSleep;
  if (text == "hybrid") return Wait::kHybrid;
  if (text == "none") return Wait::kNone;
  return invalid("'" + std::string(text) + "' is none of spin, sleep, hybrid, none");
}

Status parse_into(Duration& out, const std::string& text) {
  TAUTO_ASSIGN_OR_RETURN(out, parse_duration(text));
  if (out < Duration::zero()) return invalid("'" + text + "' is negative");
  return Unit{};
}

Status parse_into(std::uint64_t& out, const std::string& text) {
  TAUTO_ASSIGN_OR_RETURN(out, parse_count(text, 0, std::numeric_limits<std::int64_t>::max()));
  return Unit{};
}

/// "1:2ms,8:5ms", ascending in both.
Status parse_profile(ServiceTime& out, std::string_view text) {
  std::uint64_t rows_before = 0;
  Duration time_before{};
  while (!text.empty()) {
    const std::string_view entry = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), entry.size() + 1));
    const auto colon = entry.find(':');
    if (colon == std::string_view::npos) return invalid("want ROWS:TIME,ROWS:TIME,...");
    TAUTO_ASSIGN_OR_RETURN(const auto rows, parse_count(entry.substr(0, colon), 1, 1u << 30));
    TAUTO_ASSIGN_OR_RETURN(const auto time, parse_duration(entry.substr(colon + 1)));
    if (rows <= rows_before || time < time_before) return invalid("rows and times must ascend");
    out.set({static_cast<std::uint32_t>(rows), time, time});
    rows_before = rows;
    time_before = time;
  }
  if (!out.known()) return invalid("want ROWS:TIME,ROWS:TIME,...");
  return Unit{};
}

struct Linear {
  Duration fixed{};
  Duration per_row{};
};

Status apply(SyntheticSettings& s, Linear& linear, std::string_view name, const std::string& text) {
  if (name == "tauto.synthetic.fixed") return parse_into(linear.fixed, text);
  if (name == "tauto.synthetic.per_row") return parse_into(linear.per_row, text);
  if (name == "delay_a_us") return parse_into(linear.fixed, text + "us");
  if (name == "delay_c_us") return parse_into(linear.per_row, text + "us");
  if (name == "tauto.synthetic.profile") return parse_profile(s.compute, text);
  if (name == "tauto.synthetic.mode" || name == "delay_mode") {
    TAUTO_ASSIGN_OR_RETURN(s.wait, parse_wait(text));
    return Unit{};
  }
  if (name == "tauto.synthetic.jitter") return parse_into(s.jitter, text);
  if (name == "tauto.synthetic.seed") return parse_into(s.seed, text);
  if (name == "tauto.synthetic.bind_delay") return parse_into(s.bind_delay, text);
  if (name == "tauto.synthetic.compute_delay") return parse_into(s.compute_delay, text);
  if (name == "tauto.synthetic.unbind_delay") return parse_into(s.unbind_delay, text);
  if (name == "tauto.synthetic.fail_every") return parse_into(s.fail_every, text);
  if (name == "tauto.synthetic.output") {
    s.output = text;
    return Unit{};
  }
  if (name.starts_with(kOutputPrefix)) {
    s.outputs.emplace(name.substr(kOutputPrefix.size()), text);
    return Unit{};
  }
  const auto nearest = nearest_word(name, kNames);
  return invalid("the synthetic engine has no such parameter" +
                 (nearest.empty() ? "" : "; did you mean '" + std::string(nearest) + "'?"));
}

template <class T>
Result<std::vector<std::byte>> bytes_of(T value) {
  std::vector<std::byte> bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

template <class T>
Result<T> number(std::string_view text, DataType type) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) {
    return invalid("'" + std::string(text) + "' is no " + std::string(protocol_name(type)));
  }
  return value;
}

template <class T>
Result<std::vector<std::byte>> number_bytes(std::string_view text, DataType type) {
  TAUTO_ASSIGN_OR_RETURN(const auto value, number<T>(text, type));
  return bytes_of(value);
}

/// Rounds to nearest even; what a half cannot hold becomes infinite, subnormal halves become 0.
std::uint16_t half_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000u);
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<std::uint16_t>(sign | 0x7e00u);
  if (magnitude >= 0x477ff000u) return static_cast<std::uint16_t>(sign | 0x7c00u);
  if (magnitude < 0x38800000u) return sign;
  const std::uint32_t rebased = magnitude - 0x38000000u;
  return static_cast<std::uint16_t>(sign | ((rebased + 0xfffu + (rebased >> 13 & 1u)) >> 13));
}

std::uint16_t bfloat_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>(bits >> 16 | 0x40u);
  return static_cast<std::uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

}  // namespace

Result<SyntheticSettings> parse_synthetic_settings(
    const std::map<std::string, std::string>& parameters) {
  for (const auto& [one, other] : kTwins) {
    if (parameters.contains(std::string(one)) && parameters.contains(std::string(other))) {
      return invalid("parameters '" + std::string(one) + "' and '" + std::string(other) +
                     "' say the same thing; keep one");
    }
  }
  SyntheticSettings settings;
  Linear linear;
  for (const auto& [name, text] : parameters) {
    if (!name.starts_with(kPrefix) && !name.starts_with("delay_")) continue;
    auto applied = apply(settings, linear, name, text);
    if (!applied.ok()) return invalid("parameter '" + name + "': " + applied.error().message);
  }
  if (!settings.compute.known()) {
    settings.compute = ServiceTime::linear(linear.fixed, linear.per_row);
  }
  return settings;
}

Result<std::vector<std::byte>> constant_element(DataType type, std::string_view text) {
  switch (type) {
    case DataType::kBool:
      if (text == "true" || text == "1") return bytes_of(std::uint8_t{1});
      if (text == "false" || text == "0") return bytes_of(std::uint8_t{0});
      return invalid("'" + std::string(text) + "' is no BOOL");
    case DataType::kUint8:
      return number_bytes<std::uint8_t>(text, type);
    case DataType::kUint16:
      return number_bytes<std::uint16_t>(text, type);
    case DataType::kUint32:
      return number_bytes<std::uint32_t>(text, type);
    case DataType::kUint64:
      return number_bytes<std::uint64_t>(text, type);
    case DataType::kInt8:
      return number_bytes<std::int8_t>(text, type);
    case DataType::kInt16:
      return number_bytes<std::int16_t>(text, type);
    case DataType::kInt32:
      return number_bytes<std::int32_t>(text, type);
    case DataType::kInt64:
      return number_bytes<std::int64_t>(text, type);
    case DataType::kFp32:
      return number_bytes<float>(text, type);
    case DataType::kFp64:
      return number_bytes<double>(text, type);
    case DataType::kFp16: {
      TAUTO_ASSIGN_OR_RETURN(const auto value, number<float>(text, type));
      return bytes_of(half_bits(value));
    }
    case DataType::kBf16: {
      TAUTO_ASSIGN_OR_RETURN(const auto value, number<float>(text, type));
      return bytes_of(bfloat_bits(value));
    }
    case DataType::kBytes: {
      TAUTO_ASSIGN_OR_RETURN(auto bytes, bytes_of(static_cast<std::uint32_t>(text.size())));
      const auto* data = reinterpret_cast<const std::byte*>(text.data());
      bytes.insert(bytes.end(), data, data + text.size());
      return bytes;
    }
    case DataType::kInvalid:
      break;
  }
  return invalid("no data type");
}

}  // namespace tauto::engine
