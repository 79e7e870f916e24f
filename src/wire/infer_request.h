#pragma once
// KServe v2 inference over HTTP, as the request says it: JSON, JSON with binary tensors behind it,
// or one raw tensor. Whether the model agrees (names, types, shapes) is the caller's question.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "core/tensor.h"
#include "wire/arena.h"

namespace tauto::wire {

/// What one request may bring at most; more is refused with kInvalidArgument.
struct InferLimits {
  static constexpr std::size_t kInputsMax = 1000;  // the same for outputs and parameters
  static constexpr std::size_t kNameMax = 1024;    // bytes of a tensor's or parameter's name
  static constexpr std::size_t kIdMax = 4096;      // bytes of the request id
  static constexpr std::size_t kLabelsMax = 32;
  static constexpr std::size_t kLabelValueMax = 256;
  static constexpr std::size_t kDepthMax = 100;  // JSON nesting
};

struct InferInput {
  std::string_view name;
  TensorView tensor;    // binary: in place in the body; JSON: in the request's arena
  bool binary = false;  // came as binary_data_size
};

struct RequestedOutput {
  std::string_view name;
  std::optional<bool> binary;                   // `binary_data`; absent: binary_data_output decides
  std::optional<std::uint64_t> classification;  // the k best classes; 0 counts as absent
};

using ParameterValue = std::variant<bool, std::int64_t, std::uint64_t, double, std::string_view>;
struct Parameter {
  std::string_view name;
  ParameterValue value;  // uint64 only above INT64_MAX
};

struct Label {  // parameter `tauto.label.<name>`
  std::string_view name;
  std::string_view value;
};

/// One understood request. Reuse it: vectors and arena keep their memory. All views point into the
/// body or into `arena`, so both must live, unmoved, until the batch is done; the parser need not.
struct InferRequest {
  std::string_view id;  // "" = none
  /// The body is the model's only input (header length 0, or no body): `raw_bytes`. No inputs then.
  bool raw = false;
  std::span<const std::byte> raw_bytes;
  std::vector<InferInput> inputs;
  std::vector<RequestedOutput> outputs;  // empty: all; a name stands here once
  bool binary_data_output = false;       // of outputs that do not say; true when raw
  std::optional<std::uint64_t> priority;
  std::optional<Duration> timeout;   // `timeout` (us): be dispatched by then; 0 = absent
  std::optional<Duration> deadline;  // `deadline_us`: be answered by then, from the first byte seen
  std::variant<std::monostate, std::uint64_t, std::string_view> sequence_id;
  bool sequence_start = false;
  bool sequence_end = false;
  std::vector<Label> labels;
  std::vector<Parameter> parameters;  // all others, in order
  Arena arena;

  bool in_sequence() const { return sequence_id.index() != 0 || sequence_start || sequence_end; }
  void clear();
};

struct InferBody {
  /// At least 64 readable bytes must follow (simdjson's padding).
  std::span<const std::byte> bytes;
  /// Value of Inference-Header-Content-Length, as received; nullopt when the header is absent.
  std::optional<std::string_view> header_length;
  std::string_view model;  // for messages
  /// Binary tensors whose address is not a multiple of this are copied into the arena; 1 = never.
  std::size_t tensor_alignment = 1;
};

/// Threads: one at a time; one per IO thread is enough, since nothing of a request stays in it.
class InferParser {
 public:
  InferParser();
  ~InferParser();
  InferParser(const InferParser&) = delete;
  InferParser& operator=(const InferParser&) = delete;

  /// Fills `out` (cleared first). After warm-up it allocates nothing for requests of the usual
  /// size. Errors: kInvalidArgument (malformed, or against a limit), kUnimplemented (shared
  /// memory). After an error `out.id` is set if it was read, nothing else in `out` means anything.
  Status parse(const InferBody& body, InferRequest& out);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// "[request id: <id>] ", with <id_unknown> when there is none: how Triton starts many messages.
std::string request_id_prefix(std::string_view id);

}  // namespace tauto::wire
