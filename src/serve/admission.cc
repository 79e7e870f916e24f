#include "serve/admission.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "base/text.h"
#include "model/reshape.h"

namespace tauto::serve {
namespace {

constexpr std::string_view kBatchNote =
    "NOTE: Setting a non-zero max_batch_size in the model config requires a batch dimension to be "
    "prepended to each input shape. If you want to specify the full shape including the batch dim "
    "in your input dims config, try setting max_batch_size to zero. See the model configuration "
    "docs for more info on max_batch_size.";

Error invalid(std::string message) { return {Code::kInvalidArgument, std::move(message)}; }

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

/// Triton's sentence for inputs that are missing or too many.
Error wrong_inputs(const ModelHost& host, const wire::InferRequest& asked) {
  const auto& inputs = host.loaded().config.inputs;
  std::string got;
  for (const auto& input : asked.inputs) got += (got.empty() ? "" : ",") + quoted(input.name);
  std::string missing;
  for (const auto& input : inputs) {
    const bool here = std::any_of(asked.inputs.begin(), asked.inputs.end(),
                                  [&](const auto& a) { return a.name == input.name; });
    if (!here && !input.optional) missing += (missing.empty() ? "" : ",") + quoted(input.name);
  }
  return invalid(wire::request_id_prefix(asked.id) + "expected " + std::to_string(inputs.size()) +
                 " inputs but got " + std::to_string(asked.inputs.size()) + " inputs for model " +
                 quoted(host.name()) + ". Got input(s) [" + got +
                 "], but missing required input(s) [" + missing +
                 "]. Please provide all required input(s).");
}

/// Inputs usually come in the signature's order: look there first.
const wire::InferInput* find_input(const wire::InferRequest& asked, std::string_view name,
                                   std::size_t likely) {
  if (likely < asked.inputs.size() && asked.inputs[likely].name == name) {
    return &asked.inputs[likely];
  }
  for (const auto& input : asked.inputs) {
    if (input.name == name) return &input;
  }
  return nullptr;
}

bool fits(const Shape& dims, const Shape& actual, bool batched) {
  const std::size_t skip = batched ? 1 : 0;
  if (actual.rank() != dims.rank() + skip) return false;
  for (std::size_t i = 0; i < dims.rank(); ++i) {
    if (dims[i] >= 0 && dims[i] != actual[i + skip]) return false;
  }
  return true;
}

Shape without_batch(const Shape& shape) { return Shape(shape.dims().subspan(1)); }

Shape with_batch(std::int64_t rows, const Shape& dims) {
  Shape shape{rows};
  for (const auto d : dims.dims()) shape.push_back(d);
  return shape;
}

std::string shape_error(const ModelHost& host, const wire::InferRequest& asked,
                        const model::TensorConfig& config, const Shape& got, bool batched) {
  const Shape expected = batched ? with_batch(-1, config.dims) : config.dims;
  return wire::request_id_prefix(asked.id) + "unexpected shape for input " + quoted(config.name) +
         " for model " + quoted(host.name()) + ". Expected " + expected.to_string() + ", got " +
         got.to_string() + ". " + std::string(batched ? kBatchNote : "");
}

/// FNV-1a over the free dimensions: requests that differ there cannot share a batch. The engine
/// checks again, so a crafted collision costs its own batch an error, nothing else.
class CompatHash {
 public:
  void add(std::int64_t value) {
    for (int shift = 0; shift < 64; shift += 8) {
      hash_ = (hash_ ^ ((static_cast<std::uint64_t>(value) >> shift) & 0xff)) * 0x100000001b3u;
    }
  }
  CompatKey key() const { return CompatKey{hash_}; }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325u;
};

struct Binding {
  CompatHash compat;
  std::int64_t rows = -1;
  std::uint64_t elements = 0;
};

Status bind_input(const ModelHost& host, const wire::InferRequest& asked, std::size_t index,
                  Request& request, Binding& binding) {
  const auto& config = host.loaded().config.inputs[index];
  const bool batched = host.loaded().config.rows_max > 0;
  const auto* input = find_input(asked, config.name, index);
  if (input == nullptr) {
    if (!config.optional) return wrong_inputs(host, asked);
    request.inputs.push_back({});
    binding.compat.add(-2);
    return Unit{};
  }
  TensorView view = input->tensor;
  if (view.type != config.type) {
    return invalid(wire::request_id_prefix(asked.id) + "inference input " + quoted(config.name) +
                   " data-type is " + quoted(protocol_name(view.type)) + ", but model " +
                   quoted(host.name()) + " expects " + quoted(protocol_name(config.type)));
  }
  if (batched) {
    const std::uint32_t limit = host.loaded().config.rows_max;
    if (view.shape.rank() == 0 || view.shape[0] > limit) {
      return invalid(wire::request_id_prefix(asked.id) +
                     "inference request batch-size must be <= " + std::to_string(limit) + " for " +
                     quoted(host.name()));
    }
    if (binding.rows >= 0 && view.shape[0] != binding.rows) {
      return invalid(wire::request_id_prefix(asked.id) + "input " + quoted(config.name) +
                     " batch size does not match other inputs for " + quoted(host.name()));
    }
    binding.rows = view.shape[0];
    if (binding.rows < 1) {
      return invalid(wire::request_id_prefix(asked.id) + "input " + quoted(config.name) +
                     " has batch size " + std::to_string(binding.rows) + ": at least 1 is needed");
    }
  }
  if (!fits(config.dims, view.shape, batched)) {
    return invalid(shape_error(host, asked, config, view.shape, batched));
  }
  for (std::size_t d = 0; d < config.dims.rank(); ++d) {
    if (config.dims[d] < 0) binding.compat.add(view.shape[d + (batched ? 1 : 0)]);
  }
  if (config.reshape) {
    const Shape inner = batched ? without_batch(view.shape) : view.shape;
    const Shape seen = model::reshape(inner, config.dims, *config.reshape);
    view.shape = batched ? with_batch(binding.rows, seen) : seen;
  }
  binding.elements += static_cast<std::uint64_t>(view.shape.element_count().value_or(0));
  request.inputs.push_back(view);
  return Unit{};
}

Status choose_outputs(const ModelHost& host, const wire::InferRequest& asked, Request& request) {
  const auto& outputs = host.loaded().config.outputs;
  request.outputs_wanted = 0;
  for (const auto& wanted : asked.outputs) {
    std::size_t index = 0;
    while (index < outputs.size() && outputs[index].name != wanted.name) ++index;
    if (index == outputs.size()) {
      return invalid("unexpected inference output " + quoted(wanted.name) + " for model " +
                     quoted(host.name()));
    }
    if (wanted.classification.value_or(0) > 0) {
      return Error{Code::kUnimplemented,
                   "output " + quoted(wanted.name) +
                       ": the classification extension is not supported yet; read the tensor and "
                       "sort it in the client"};
    }
    request.outputs_wanted |= std::uint64_t{1} << (index & 63);
  }
  if (asked.outputs.empty()) request.outputs_wanted = ~std::uint64_t{0};
  return Unit{};
}

}  // namespace

Status admit(const ModelHost& host, const wire::InferRequest& asked, Request& request) {
  const auto& inputs = host.loaded().config.inputs;
  if (asked.inputs.size() > inputs.size()) return wrong_inputs(host, asked);
  for (const auto& input : asked.inputs) {
    const bool known = std::any_of(inputs.begin(), inputs.end(),
                                   [&](const auto& config) { return config.name == input.name; });
    if (!known) {
      return invalid("unexpected inference input " + quoted(input.name) + " for model " +
                     quoted(host.name()));
    }
  }
  request.inputs.clear();
  Binding binding;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    TAUTO_RETURN_IF_ERROR(bind_input(host, asked, i, request, binding));
  }
  TAUTO_RETURN_IF_ERROR(choose_outputs(host, asked, request));
  auto& arrive = request.arrive;
  arrive = {};
  arrive.rows = binding.rows < 1 ? 1 : static_cast<std::uint32_t>(binding.rows);
  arrive.compat_key = binding.compat.key();
  arrive.elements_per_row = binding.elements / arrive.rows;
  const std::uint64_t priority = asked.priority.value_or(0);
  arrive.priority = priority > 0xffff'ffff ? 0 : static_cast<std::uint32_t>(priority);
  arrive.queue_timeout = asked.timeout;
  return Unit{};
}

Status expand_raw(const ModelHost& host, wire::InferRequest& asked) {
  const auto& config = host.loaded().config;
  const auto size_error = [&](std::string_view expected) {
    return invalid(wire::request_id_prefix(asked.id) + "input byte size mismatch for input " +
                   quoted(config.inputs[0].name) + " for model " + quoted(host.name()) +
                   ". Expected " + std::string(expected) + ", got " +
                   std::to_string(asked.raw_bytes.size()));
  };
  if (config.inputs.size() != 1) {
    return invalid("a raw binary request needs a model with exactly one input; " +
                   quoted(host.name()) + " has " + std::to_string(config.inputs.size()) +
                   ": send JSON, or JSON with Inference-Header-Content-Length");
  }
  const auto& input = config.inputs[0];
  wire::InferInput expanded{input.name, {input.type, {}, asked.raw_bytes}, true};
  if (config.rows_max > 0) expanded.tensor.shape.push_back(1);
  std::int64_t known = 1;
  std::size_t free_dims = 0;
  for (const auto d : input.dims.dims()) {
    if (d < 0) {
      ++free_dims;
    } else {
      known *= d;
    }
  }
  const std::size_t element = byte_size(input.type);
  if (free_dims > 1 || (element == 0 && known != 1)) {
    return invalid("the shape of input " + quoted(input.name) + " of model " + quoted(host.name()) +
                   " cannot be deduced from a raw body: send JSON");
  }
  if (element == 0) {  // BYTES: the body is the one element, its length goes before it
    const auto size = static_cast<std::uint32_t>(asked.raw_bytes.size());
    std::byte* p = asked.arena.allocate(sizeof size + size);
    std::memcpy(p, &size, sizeof size);
    if (size > 0) std::memcpy(p + sizeof size, asked.raw_bytes.data(), size);
    expanded.tensor.bytes = {p, sizeof size + size};
  }
  const std::size_t unit = std::max<std::size_t>(1, element) * static_cast<std::size_t>(known);
  const std::size_t count = element == 0 ? 1 : unit == 0 ? 0 : asked.raw_bytes.size() / unit;
  if (element != 0 && (unit == 0 || asked.raw_bytes.size() % unit != 0 || count == 0 ||
                       (free_dims == 0 && count != 1))) {
    return size_error((free_dims == 0 ? "" : "a multiple of ") + std::to_string(unit));
  }
  for (const auto d : input.dims.dims()) {
    expanded.tensor.shape.push_back(d < 0 ? static_cast<std::int64_t>(count) : d);
  }
  asked.inputs.push_back(expanded);
  return Unit{};
}

Result<std::optional<Instant>> deadline_of(const ModelHost& host, const wire::InferRequest& asked,
                                           std::string_view envoy_timeout_ms, Instant first_byte) {
  std::optional<Duration> strictest = host.loaded().config.objective;
  const auto tighten = [&](Duration d) { strictest = strictest ? std::min(*strictest, d) : d; };
  if (asked.deadline) tighten(*asked.deadline);
  if (!envoy_timeout_ms.empty()) {
    const auto ms = parse_count(envoy_timeout_ms, 0, 1'000'000'000);
    if (!ms.ok()) return invalid("header x-envoy-expected-rq-timeout-ms: " + ms.error().message);
    if (ms.value() > 0) tighten(std::chrono::milliseconds(ms.value()));  // 0 = none, as Envoy
  }
  if (!strictest) return std::optional<Instant>{};
  return std::optional<Instant>{first_byte + std::min(*strictest, sched::kTimeMax)};
}

}  // namespace tauto::serve
