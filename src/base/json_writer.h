#pragma once
// Writes JSON into a string, off the hot path as well as on it. Commas are placed by the writer;
// nesting is the caller's (unbalanced calls are a programmer error, checked by done()).

#include <charconv>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"

namespace tauto {

/// Appends `text` with quotes, escaped as RFC 8259 asks. Bytes above 0x7f pass unchanged.
void append_json_string(std::string& out, std::string_view text);

class JsonWriter {
 public:
  explicit JsonWriter(std::string& out) : out_(out) {}

  JsonWriter& begin_object() { return open('{'); }
  JsonWriter& end_object() { return close('}'); }
  JsonWriter& begin_array() { return open('['); }
  JsonWriter& end_array() { return close(']'); }
  JsonWriter& key(std::string_view name) {
    comma();
    append_json_string(out_, name);
    out_ += ':';
    after_key_ = true;
    return *this;
  }
  JsonWriter& value(std::string_view text) {
    comma();
    append_json_string(out_, text);
    return *this;
  }
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  template <std::same_as<bool> B>
  JsonWriter& value(B b) {
    return raw(b ? "true" : "false");
  }
  template <std::integral I>
  requires(!std::same_as<I, bool>) JsonWriter& value(I number) {
    char text[24];
    const auto end = std::to_chars(text, text + sizeof text, number).ptr;
    return raw({text, static_cast<std::size_t>(end - text)});
  }
  /// Shortest text that reads back as the same number; NaN and infinities become null.
  template <std::floating_point F>
  JsonWriter& value(F number) {
    if (!std::isfinite(number)) return raw("null");
    char text[40];
    const auto end = std::to_chars(text, text + sizeof text, number).ptr;
    return raw({text, static_cast<std::size_t>(end - text)});
  }
  JsonWriter& null() { return raw("null"); }
  /// Appends `json` unchecked: it must be one JSON value.
  JsonWriter& raw(std::string_view json) {
    comma();
    out_ += json;
    return *this;
  }
  template <class T>
  JsonWriter& field(std::string_view name, T v) {
    return key(name).value(v);
  }
  bool done() const { return first_.empty(); }

 private:
  JsonWriter& open(char c) {
    comma();
    out_ += c;
    first_.push_back(true);
    return *this;
  }
  JsonWriter& close(char c) {
    TAUTO_CHECK(!first_.empty() && !after_key_);
    first_.pop_back();
    out_ += c;
    return *this;
  }
  void comma() {
    if (after_key_) {
      after_key_ = false;
      return;
    }
    if (first_.empty()) return;
    if (!first_.back()) out_ += ',';
    first_.back() = false;
  }

  std::string& out_;
  std::vector<bool> first_;
  bool after_key_ = false;
};

}  // namespace tauto
