#pragma once
// simdjson for this room's .cc files: values with messages that say where, and texts viewed in
// place.

#include <simdjson.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "wire/arena.h"

namespace tauto::wire {

namespace ondemand = simdjson::ondemand;

/// A place in the request, put into words only when something is wrong there: "'shape' of
/// inputs[2]".
struct Spot {
  std::string_view key;  // "" = the entry itself
  std::string_view list = {};
  std::size_t index = 0;

  std::string text() const;
};

/// One JSON document while it is being read.
struct JsonSource {
  std::string_view text;
  ondemand::document& document;
  Arena& arena;  // of texts that had to be unescaped

  /// The document is not JSON: simdjson's text and, where known, the offset.
  Error broken(simdjson::error_code code) const;
  /// `value` is not what it should be: "Unable to parse 'shape' of inputs[2]: expected ...,
  /// got 1.5".
  Error wrong(const std::string& what, std::string_view expected, ondemand::value value) const;

  /// A JSON string: in place in the body when it has no escapes, else a copy in the arena.
  /// Requires: called once per value (simdjson's own buffer holds each text once).
  simdjson::error_code text_of(ondemand::value value, std::string_view& out) const;
  /// The key of a field, likewise.
  simdjson::error_code key_of(ondemand::field& field, std::string_view& out) const;
  /// Reads a value that nobody needs, so that a document is refused wherever it is wrong.
  Status check(ondemand::value value, std::size_t depth) const;

  Result<bool> bool_of(const Spot& spot, ondemand::value value) const;
  Result<std::uint64_t> count_of(const Spot& spot, ondemand::value value) const;
  Result<std::string_view> string_of(const Spot& spot, ondemand::value value) const;
  Result<ondemand::array> array_of(const Spot& spot, ondemand::value value) const;
  Result<ondemand::object> object_of(const Spot& spot, ondemand::value value) const;
};

/// Raw text of a scalar, or the first character of an array or object; cut to 40 bytes, for
/// messages.
std::string excerpt(ondemand::value value);

/// Calls `on_field(key, value)`, which returns Status, for each field of `object`.
template <class OnField>
Status for_each_field(const JsonSource& source, ondemand::object& object, OnField&& on_field) {
  for (auto item : object) {
    ondemand::field field;
    if (const auto code = std::move(item).get(field)) return source.broken(code);
    std::string_view key;
    if (const auto code = source.key_of(field, key)) return source.broken(code);
    TAUTO_RETURN_IF_ERROR(on_field(key, field.value()));
  }
  return Unit{};
}

/// Calls `on_element(index, value)`, which returns Status, for each element of `array`.
template <class OnElement>
Status for_each_element(const JsonSource& source, ondemand::array& array, OnElement&& on_element) {
  std::size_t index = 0;
  for (auto item : array) {
    ondemand::value value;
    if (const auto code = std::move(item).get(value)) return source.broken(code);
    TAUTO_RETURN_IF_ERROR(on_element(index++, value));
  }
  return Unit{};
}

}  // namespace tauto::wire
