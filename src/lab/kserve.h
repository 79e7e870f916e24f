#pragma once
// Inference requests of the KServe v2 protocol with random inputs of the right type and shape.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "core/arrivals.h"
#include "core/tensor.h"

namespace tauto::lab {

/// What a server says about a model. `inputs[i].dims` are as in the metadata: with the batch
/// dimension when `batch_rows_max` > 0.
struct KserveModel {
  std::string name;
  std::vector<TensorSpec> inputs;
  std::uint32_t batch_rows_max = 0;  // 0: the model does not batch, or the server does not say
};

/// Errors: kInvalidArgument when `metadata` is not model metadata. `config` may be "".
Result<KserveModel> parse_kserve_model(std::string_view metadata, std::string_view config);

struct KserveRequestOptions {
  std::vector<std::pair<std::string, Shape>> shapes;  // by input; with or without the batch
  std::optional<std::uint32_t> batch_rows;
  bool binary = true;
  std::int64_t int_max = 100;  // integer inputs are in [0, int_max]
  std::optional<Duration> deadline;
};

/// The inputs with every dimension known. Errors: kInvalidArgument, saying which --shape is missing
/// or wrong, or that the batch is too large.
Result<std::vector<TensorSpec>> concrete_inputs(const KserveModel& model,
                                                const KserveRequestOptions& options);

struct KserveBody {
  std::string bytes;
  std::size_t json_bytes = 0;  // Inference-Header-Content-Length; 0 when all is JSON
};
/// One request body. Errors: kInvalidArgument when a type has no JSON form.
Result<KserveBody> make_kserve_body(const std::vector<TensorSpec>& inputs,
                                    const KserveRequestOptions& options, SplitMix64& random);

/// A JSON body with the parameter deadline_us added. Errors: kInvalidArgument when it is not an
/// object.
Result<std::string> add_deadline(std::string_view body, Duration deadline);

/// "name:1,128" -> the name and the shape. Errors: kInvalidArgument.
Result<std::pair<std::string, Shape>> parse_shape_flag(std::string_view text);

/// The server's own words for why it refused: {"error": "..."}, or the start of the body.
std::string error_words(std::string_view body);

}  // namespace tauto::lab
