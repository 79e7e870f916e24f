#pragma once
#include <cstdint>
#include <string>

#include "base/json_writer.h"
#include "core/arrivals.h"
#include "core/tensor.h"

namespace tauto::lab {

/// Appends random elements as the protocol's binary form: integers in [0, int_max] (as far as the
/// type reaches), floating point in [0, 1), BYTES of eight letters. Requires: dims are concrete.
void append_random_binary(std::string& out, const TensorSpec& tensor, std::int64_t int_max,
                          SplitMix64& random);

/// The same as a flat JSON array. Requires: a type with a JSON form.
void write_random_json(JsonWriter& json, const TensorSpec& tensor, std::int64_t int_max,
                       SplitMix64& random);

}  // namespace tauto::lab
