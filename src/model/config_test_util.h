#pragma once
// Texts of small configs for the tests of this room.

#include <string>

namespace tauto::model {

/// A small valid model; `extra` is appended.
inline std::string text(const std::string& extra = "", int rows_max = 8) {
  return "name: \"m\"\nbackend: \"echo\"\nmax_batch_size: " + std::to_string(rows_max) +
         "\ninput [ { name: \"A\" data_type: TYPE_FP32 dims: [ 16 ] } ]\n"
         "output [ { name: \"B\" data_type: TYPE_FP32 dims: [ 16 ] } ]\n" +
         extra;
}

inline std::string parameter(const std::string& key, const std::string& value) {
  return "parameters { key: \"" + key + "\" value { string_value: \"" + value + "\" } }\n";
}

}  // namespace tauto::model
