// Differential: random requests and random damage, read by our parser and by nlohmann/json.

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "wire/infer_body_test.h"
#include "wire/infer_request.h"

namespace tauto::wire {
namespace {

using nlohmann::ordered_json;
using testing::Body;

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  std::uint64_t below(std::uint64_t n) { return engine_() % n; }
  bool one_in(std::uint64_t n) { return below(n) == 0; }
  std::uint64_t bits() { return engine_(); }

 private:
  std::mt19937_64 engine_;
};

std::string random_text(Random& random) {
  static const std::vector<std::string> kPieces{
      "a", "Z", "0", "\"", "\\", "\n", "/", "\t", "\xc3\xa9", "\x01", "\xf0\x9f\x98\x80",
      "]", "{", ":", ",",  " "};
  std::string text;
  for (auto n = random.below(12); n > 0; --n) text += kPieces[random.below(kPieces.size())];
  return text;
}

ordered_json random_number(Random& random, DataType type) {
  const auto pick = random.bits() >> random.below(64);
  switch (type) {
    case DataType::kBool:
      return random.one_in(3) ? ordered_json(pick % 2) : ordered_json(pick % 2 == 0);
    case DataType::kInt8:
      return static_cast<std::int8_t>(pick);
    case DataType::kUint8:
      return static_cast<std::uint8_t>(pick);
    case DataType::kInt16:
      return static_cast<std::int16_t>(pick);
    case DataType::kUint16:
      return static_cast<std::uint16_t>(pick);
    case DataType::kInt32:
      return static_cast<std::int32_t>(pick);
    case DataType::kUint32:
      return static_cast<std::uint32_t>(pick);
    case DataType::kInt64:
      return static_cast<std::int64_t>(pick);
    case DataType::kUint64:
      return pick;
    case DataType::kBytes:
      return random_text(random);
    default:
      break;
  }
  if (random.one_in(3)) return static_cast<std::int32_t>(pick);
  const double exponent = static_cast<double>(random.below(60)) - 30;
  return static_cast<double>(static_cast<std::int32_t>(pick)) * std::pow(10.0, exponent);
}

constexpr std::array kJsonTypes{DataType::kBool,   DataType::kUint8,  DataType::kUint16,
                                DataType::kUint32, DataType::kUint64, DataType::kInt8,
                                DataType::kInt16,  DataType::kInt32,  DataType::kInt64,
                                DataType::kFp32,   DataType::kFp64,   DataType::kBytes};

/// Row-major, sometimes nested as the shape says.
ordered_json random_data(Random& random, DataType type, std::span<const std::int64_t> dims,
                         bool nested) {
  auto array = ordered_json::array();
  if (nested && dims.size() > 1) {
    for (std::int64_t i = 0; i < dims[0]; ++i) {
      array.push_back(random_data(random, type, dims.subspan(1), true));
    }
    return array;
  }
  std::int64_t count = 1;
  for (const auto d : dims) count *= d;
  for (std::int64_t i = 0; i < count; ++i) array.push_back(random_number(random, type));
  return array;
}

ordered_json random_input(Random& random, std::size_t index) {
  const DataType type = kJsonTypes[random.below(kJsonTypes.size())];
  std::vector<std::int64_t> dims(random.below(4));
  for (auto& d : dims) d = static_cast<std::int64_t>(random.below(5));
  std::vector<std::pair<std::string, ordered_json>> fields{
      {"name", std::to_string(index) + random_text(random)},
      {"shape", dims},
      {"datatype", std::string(protocol_name(type))},
      {"data", random_data(random, type, dims, random.one_in(2))}};
  if (random.one_in(3)) fields.push_back({"parameters", {{"other", random_text(random)}}});
  if (random.one_in(3)) fields.push_back({"unknown", {1, {{"a", nullptr}}, random_text(random)}});
  auto input = ordered_json::object();
  while (!fields.empty()) {
    const auto i = static_cast<std::ptrdiff_t>(random.below(fields.size()));
    input[fields[static_cast<std::size_t>(i)].first] = fields[static_cast<std::size_t>(i)].second;
    fields.erase(fields.begin() + i);
  }
  return input;
}

ordered_json random_request(Random& random) {
  auto request = ordered_json::object();
  if (random.one_in(2)) request["id"] = random_text(random);
  if (random.one_in(2)) {
    request["parameters"] = {{"priority", random.below(5)}, {"custom", random_text(random)}};
  }
  request["inputs"] = ordered_json::array();
  for (std::size_t n = random.below(4), i = 0; i < n; ++i) {
    request["inputs"].push_back(random_input(random, i));
  }
  if (random.one_in(2)) request["outputs"] = {{{"name", random_text(random)}}};
  return request;
}

template <class T>
void append_as(const ordered_json& value, std::string& out) {
  T number{};
  if (value.is_boolean()) {
    number = static_cast<T>(value.get<bool>() ? 1 : 0);
  } else {
    number = static_cast<T>(value.get<T>());
  }
  out.append(reinterpret_cast<const char*>(&number), sizeof number);
}

/// The tensor's bytes by nlohmann's reading.
void append_reference(const ordered_json& data, DataType type, std::string& out) {
  for (const auto& value : data) {
    if (value.is_array()) {
      append_reference(value, type, out);
      continue;
    }
    switch (type) {
      case DataType::kBool:
      case DataType::kUint8:
        append_as<std::uint8_t>(value, out);
        break;
      case DataType::kInt8:
        append_as<std::int8_t>(value, out);
        break;
      case DataType::kInt16:
        append_as<std::int16_t>(value, out);
        break;
      case DataType::kUint16:
        append_as<std::uint16_t>(value, out);
        break;
      case DataType::kInt32:
        append_as<std::int32_t>(value, out);
        break;
      case DataType::kUint32:
        append_as<std::uint32_t>(value, out);
        break;
      case DataType::kInt64:
        append_as<std::int64_t>(value, out);
        break;
      case DataType::kUint64:
        append_as<std::uint64_t>(value, out);
        break;
      case DataType::kFp32: {
        const auto number = static_cast<float>(value.get<double>());
        out.append(reinterpret_cast<const char*>(&number), sizeof number);
        break;
      }
      case DataType::kFp64:
        append_as<double>(value, out);
        break;
      case DataType::kBytes:
        out += testing::as_bytes({value.get<std::string>()});
        break;
      default:
        FAIL();
    }
  }
}

void expect_same(const ordered_json& reference, const InferRequest& request) {
  EXPECT_EQ(request.id, reference.value("id", ""));
  ASSERT_EQ(request.inputs.size(), reference["inputs"].size());
  for (std::size_t i = 0; i < request.inputs.size(); ++i) {
    const auto& want = reference["inputs"][i];
    const InferInput& got = request.inputs[i];
    EXPECT_EQ(got.name, want["name"].get<std::string>());
    EXPECT_EQ(protocol_name(got.tensor.type), want["datatype"].get<std::string>());
    const auto dims = want["shape"].get<std::vector<std::int64_t>>();
    EXPECT_EQ(got.tensor.shape, Shape(std::span(dims)));
    std::string bytes;
    append_reference(want["data"], got.tensor.type, bytes);
    EXPECT_EQ(testing::text_of(got.tensor.bytes), bytes);
  }
}

std::string random_dump(Random& random, const ordered_json& json) {
  const int indent = random.one_in(3) ? static_cast<int>(random.below(4)) : -1;
  return json.dump(indent, random.one_in(2) ? ' ' : '\t', random.one_in(2));
}

TEST(InferRandom, GoodRequestsMeanTheSameToBoth) {
  InferParser parser;
  InferRequest request;
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const std::string text = random_dump(random, random_request(random));
    const auto status = parser.parse(Body(text).view(), request);
    ASSERT_TRUE(status.ok()) << status.error().message << "\n" << text;
    // Read again, since a dumped double is what both must read.
    const Body body(text);
    ASSERT_TRUE(parser.parse(body.view(), request).ok());
    expect_same(ordered_json::parse(text), request);
    ASSERT_FALSE(HasFailure()) << text;
  }
}

void damage(Random& random, std::string& text) {
  static constexpr std::string_view kBytes = "[]{},:\"\\0123456789.eE+-tfn \x01\xff\x80u";
  for (auto n = 1 + random.below(3); n > 0 && !text.empty(); --n) {
    const auto at = random.below(text.size());
    switch (random.below(4)) {
      case 0:
        text[at] = kBytes[random.below(kBytes.size())];
        break;
      case 1:
        text.erase(at, 1 + random.below(4));
        break;
      case 2:
        text.insert(at, 1, kBytes[random.below(kBytes.size())]);
        break;
      default:
        text.resize(at);
        break;
    }
  }
}

TEST(InferRandom, WhatIsNotJsonIsNeverAccepted) {
  InferParser parser;
  InferRequest request;
  std::size_t accepted = 0;
  std::size_t refused_json = 0;
  for (std::uint64_t seed = 0; seed < 20'000; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    std::string text = random_dump(random, random_request(random));
    damage(random, text);
    if (text.empty()) continue;  // a raw request
    const Body body(text);
    const bool ok = parser.parse(body.view(), request).ok();
    const auto reference = ordered_json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (reference.is_discarded()) {
      ++refused_json;
      ASSERT_FALSE(ok) << text;
      continue;
    }
    if (!ok) continue;
    ++accepted;
    expect_same(reference, request);
    ASSERT_FALSE(HasFailure()) << text;
  }
  EXPECT_GT(accepted, 100u);  // damage in a string or a number often leaves a good request
  EXPECT_GT(refused_json, 1000u);
}

}  // namespace
}  // namespace tauto::wire
