// Runs batches. A batch of one is bound where it lies; more are gathered once into buffers of this
// instance. Outputs of known shape are written by the engine into the batch's buffers, others stay
// in the engine's memory; either way each request's rows are a view in place.

#include <algorithm>
#include <cstring>
#include <exception>

#include "engine/onnx/onnx_session.h"
#include "engine/onnx/strings.h"

namespace tauto::engine::onnx {
namespace {

/// An output, as far as it is known before the run.
struct OutputPlan {
  TensorSpec spec;
  std::optional<std::size_t> row_bytes;  // of one row; absent: the engine allocates
};

/// Phrases by which ONNX Runtime and its kernels say that the shapes or values of the inputs are at
/// fault, though the status says only "runtime exception".
constexpr std::string_view kCallersFault[] = {"broadcast",
                                              "cannot be reshaped",
                                              "dimensions must match",
                                              "dimension mismatch",
                                              "incompatible dimensions",
                                              "out of bounds",
                                              "out of data bounds",
                                              "nvalid rank",
                                              "nvalid dimension",
                                              "nvalid input"};

/// How older and newer releases refuse a buffer whose shape is not what they computed.
constexpr std::string_view kBufferRefused[] = {"shape verification", "pre-allocated output"};

template <std::size_t n>
bool contains_any(std::string_view text, const std::string_view (&phrases)[n]) {
  return std::any_of(phrases, phrases + n, [text](std::string_view phrase) {
    return text.find(phrase) != std::string_view::npos;
  });
}

Error run_error(Error error) {
  if (error.code == Code::kInternal && contains_any(error.message, kCallersFault)) {
    error.code = Code::kInvalidArgument;
  }
  return error;
}

class OnnxInstance final : public Instance {
 public:
  OnnxInstance(std::shared_ptr<const Session> session, Signature signature, const TimeSource& time)
      : session_(std::move(session)),
        api_(session_->library->api),
        signature_(std::move(signature)),
        time_(time) {
    gathered_.resize(signature_.inputs.size());
    for (const auto& spec : signature_.outputs) outputs_.push_back(plan(spec));
  }

  Status prepare() {
    TAUTO_ASSIGN_OR_RETURN(run_options_,
                           make_run_options(*session_->library, session_->parameters));
    TAUTO_ASSIGN_OR_RETURN(
        memory_, make<OrtMemoryInfo>(api_, api_.ReleaseMemoryInfo, api_.CreateCpuMemoryInfo,
                                     OrtArenaAllocator, OrtMemTypeDefault));
    return Unit{};
  }

  Status run(const Batch& batch, BatchOutput& out, BatchTimes& times) override {
    try {
      Status status = run_or_throw(batch, out, times);
      clear();
      return status;
    } catch (const std::exception& error) {  // no memory
      clear();
      return Error{Code::kInternal, std::string("while running a batch: ") + error.what()};
    }
  }

 private:
  OutputPlan plan(const TensorSpec& spec) const {
    const auto elements = spec.dims.element_count();
    if (!elements || spec.type == DataType::kBytes) return {spec, std::nullopt};
    return {spec, static_cast<std::size_t>(*elements) * byte_size(spec.type)};
  }

  Status run_or_throw(const Batch& batch, BatchOutput& out, BatchTimes& times) {
    check_batch(batch, batched());
    out.reset(batch.items.size(), outputs_.size());
    out.keep_alive.reset();
    for (std::size_t i = 0; i < signature_.inputs.size(); ++i) {
      TAUTO_RETURN_IF_ERROR(bind_input(batch, i));
    }
    TAUTO_RETURN_IF_ERROR(bind_outputs(batch, out));
    times.bind_end = time_.now();
    Status ran = call();
    if (!ran.ok() && forget_planned_shapes(ran.error())) {
      TAUTO_RETURN_IF_ERROR(bind_outputs(batch, out));
      ran = call();
    }
    times.compute_end = times.unbind_end = time_.now();
    if (!ran.ok()) return run_error(std::move(ran).error());
    TAUTO_RETURN_IF_ERROR(unbind_outputs(batch, out));
    times.unbind_end = time_.now();
    return Unit{};
  }

  Status call() {
    return check(api_, api_.Run(session_->session.get(), run_options_.get(), input_names_.data(),
                                input_values_.data(), input_values_.size(), output_names_.data(),
                                output_names_.size(), output_values_.data()));
  }

  /// A file may give another shape than its config says. The engine then refuses our buffer; from
  /// then on it allocates, and unbind_outputs() tells what really came. True when that was it.
  bool forget_planned_shapes(const Error& error) {
    if (!contains_any(error.message, kBufferRefused)) return false;
    for (auto& output : outputs_) output.row_bytes.reset();
    return true;
  }

  bool batched() const { return signature_.rows_max > 0; }

  /// What every request of the batch must agree on for input i.
  Status check_views(const Batch& batch, std::size_t i) const {
    const TensorSpec& spec = signature_.inputs[i];
    const TensorView& first = batch.items[0].inputs[i];
    for (const auto& item : batch.items) {
      const TensorView& view = item.inputs[i];
      const auto fail = [&spec](const std::string& what) {
        return Error{Code::kInvalidArgument, "input '" + spec.name + "': " + what};
      };
      if (view.type != first.type) return fail("absent in some requests of the batch");
      if (view.type == DataType::kInvalid) continue;
      if (view.type != spec.type) {
        return fail("got " + std::string(protocol_name(view.type)) + ", expected " +
                    std::string(protocol_name(spec.type)));
      }
      const auto elements = view.shape.element_count();
      if (!elements) return fail("shape " + view.shape.to_string() + " has no size");
      const std::size_t width = byte_size(view.type);
      if (width > 0 && (view.bytes.size() % width != 0 ||
                        view.bytes.size() / width != static_cast<std::uint64_t>(*elements))) {
        return fail(std::to_string(view.bytes.size()) + " bytes do not hold " +
                    std::string(protocol_name(view.type)) + view.shape.to_string());
      }
      if (!batched()) continue;
      if (view.shape.rank() == 0 || view.shape[0] != std::int64_t{item.rows}) {
        return fail("shape " + view.shape.to_string() + " for " + std::to_string(item.rows) +
                    " rows");
      }
      const auto rest = [](const TensorView& v) { return v.shape.dims().subspan(1); };
      if (!std::ranges::equal(rest(view), rest(first))) {
        return fail("shapes " + first.shape.to_string() + " and " + view.shape.to_string() +
                    " cannot share a batch");
      }
    }
    return Unit{};
  }

  Status bind_input(const Batch& batch, std::size_t i) {
    const TensorView& first = batch.items[0].inputs[i];
    TAUTO_RETURN_IF_ERROR(check_views(batch, i));
    if (first.type == DataType::kInvalid) return Unit{};  // optional and absent
    Shape shape = first.shape;
    if (batched()) shape[0] = batch.rows;
    if (first.type == DataType::kBytes) {
      strings_.clear();
      for (const auto& item : batch.items) strings_.push_back(item.inputs[i]);
      auto value = string_tensor(api_, shape, strings_);
      if (!value.ok()) {
        return Error{value.error().code,
                     "input '" + signature_.inputs[i].name + "': " + value.error().message};
      }
      add_input(i, std::move(value).value());
      return Unit{};
    }
    TAUTO_ASSIGN_OR_RETURN(auto value, tensor_over(in_place(batch, i), first.type, shape));
    add_input(i, std::move(value));
    return Unit{};
  }

  /// The bytes of input i of the whole batch: where they lie when there is one request and its
  /// address suits the type, else gathered.
  std::span<const std::byte> in_place(const Batch& batch, std::size_t i) {
    const TensorView& first = batch.items[0].inputs[i];
    const auto address = reinterpret_cast<std::uintptr_t>(first.bytes.data());
    if (batch.items.size() == 1 && address % byte_size(first.type) == 0) return first.bytes;
    std::size_t total = 0;
    for (const auto& item : batch.items) total += item.inputs[i].bytes.size();
    std::byte* const begin = gathered_[i].reserve(total);
    std::byte* to = begin;
    for (const auto& item : batch.items) {
      const auto from = item.inputs[i].bytes;
      if (!from.empty()) std::memcpy(to, from.data(), from.size());
      to += from.size();
    }
    return {begin, total};
  }

  /// A value that borrows `bytes`. ONNX Runtime never writes to what is fed to it.
  Result<OrtPtr<OrtValue>> tensor_over(std::span<const std::byte> bytes, DataType type,
                                       const Shape& shape) {
    void* const data =
        bytes.empty() ? static_cast<void*>(&nothing_) : const_cast<std::byte*>(bytes.data());
    return make<OrtValue>(api_, api_.ReleaseValue, api_.CreateTensorWithDataAsOrtValue,
                          static_cast<const OrtMemoryInfo*>(memory_.get()), data, bytes.size(),
                          shape.dims().data(), shape.rank(), to_onnx(type));
  }

  void add_input(std::size_t i, OrtPtr<OrtValue> value) {
    input_names_.push_back(signature_.inputs[i].name.c_str());
    input_values_.push_back(value.get());
    owned_.push_back(std::move(value));
  }

  Status bind_outputs(const Batch& batch, BatchOutput& out) {
    output_index_.clear();
    output_names_.clear();
    output_values_.clear();
    output_owned_.clear();
    for (std::size_t o = 0; o < outputs_.size(); ++o) {
      const bool wanted = o >= 64 || (batch.outputs_wanted >> o & 1) != 0;
      // A run without outputs is refused; one that nobody wants still has to run.
      if (!wanted && !(o + 1 == outputs_.size() && output_index_.empty())) continue;
      OrtPtr<OrtValue> value{nullptr, api_.ReleaseValue};
      if (outputs_[o].row_bytes) {
        const std::size_t bytes = planned_bytes(outputs_[o], batch);
        const std::span<const std::byte> space{out.buffer(o).reserve(bytes), bytes};
        TAUTO_ASSIGN_OR_RETURN(value, tensor_over(space, outputs_[o].spec.type,
                                                  full_shape(outputs_[o].spec.dims, batch.rows)));
      }
      output_index_.push_back(o);
      output_names_.push_back(outputs_[o].spec.name.c_str());
      output_values_.push_back(value.get());
      output_owned_.push_back(std::move(value));
    }
    return Unit{};
  }

  std::size_t planned_bytes(const OutputPlan& output, const Batch& batch) const {
    return *output.row_bytes * (batched() ? batch.rows : 1);
  }

  Shape full_shape(const Shape& dims, std::uint32_t rows) const {
    Shape shape;
    if (batched()) shape.push_back(rows);
    for (const auto d : dims.dims()) shape.push_back(d);
    return shape;
  }

  Status unbind_outputs(const Batch& batch, BatchOutput& out) {
    bool keeps = false;
    for (std::size_t n = 0; n < output_index_.size(); ++n) {
      if (output_owned_[n] != nullptr) continue;  // written into our buffer
      output_owned_[n].reset(output_values_[n]);
      keeps = true;
    }
    for (std::size_t n = 0; n < output_index_.size(); ++n) {
      const std::size_t o = output_index_[n];
      const OutputPlan& output = outputs_[o];
      if (output.row_bytes) {
        const Shape shape = full_shape(output.spec.dims, batch.rows);
        slice(batch, out, o, shape, {out.buffer(o).data(), planned_bytes(output, batch)});
        continue;
      }
      TAUTO_RETURN_IF_ERROR(unbind_unplanned(batch, out, o, output_values_[n]));
    }
    if (keeps) {
      out.keep_alive = std::make_shared<std::vector<OrtPtr<OrtValue>>>(std::move(output_owned_));
      output_owned_.clear();
    }
    return Unit{};
  }

  Status unbind_unplanned(const Batch& batch, BatchOutput& out, std::size_t o, OrtValue* value) {
    TAUTO_ASSIGN_OR_RETURN(const Shape shape, shape_of(api_, value));
    const TensorSpec& spec = outputs_[o].spec;
    TAUTO_RETURN_IF_ERROR(check_output(spec, shape, batch.rows));
    const auto elements = static_cast<std::size_t>(shape.element_count().value_or(0));
    if (spec.type == DataType::kBytes) {
      TAUTO_ASSIGN_OR_RETURN(const auto bytes,
                             string_bytes(api_, value, elements, out.buffer(o), scratch_));
      slice_strings(batch, out, o, shape, bytes);
      return Unit{};
    }
    void* data = nullptr;
    TAUTO_RETURN_IF_ERROR(check(api_, api_.GetTensorMutableData(value, &data)));
    slice(batch, out, o, shape,
          {static_cast<const std::byte*>(data), elements * byte_size(spec.type)});
    return Unit{};
  }

  Status check_output(const TensorSpec& spec, const Shape& shape, std::uint32_t rows) const {
    const Shape expected = full_shape(spec.dims, rows);
    bool fits = shape.rank() == expected.rank();
    for (std::size_t d = 0; fits && d < shape.rank(); ++d) {
      fits = expected[d] < 0 || expected[d] == shape[d];
    }
    if (fits) return Unit{};
    return Error{Code::kInternal,
                 "output '" + spec.name + "': the model gave " + shape.to_string() +
                     ", the config says " + expected.to_string() +
                     (batched() ? " (with " + std::to_string(rows) + " rows)" : "")};
  }

  Shape share_of(const Shape& shape, const BatchItem& item) const {
    Shape share = shape;
    if (batched()) share[0] = item.rows;
    return share;
  }

  void slice(const Batch& batch, BatchOutput& out, std::size_t o, const Shape& shape,
             std::span<const std::byte> bytes) const {
    const std::size_t row = batched() ? bytes.size() / batch.rows : bytes.size();
    std::size_t at = 0;
    for (std::size_t i = 0; i < batch.items.size(); ++i) {
      const std::size_t size = row * (batched() ? batch.items[i].rows : 1);
      out.view(i, o) = TensorView{outputs_[o].spec.type, share_of(shape, batch.items[i]),
                                  bytes.subspan(at, size)};
      at += size;
    }
  }

  void slice_strings(const Batch& batch, BatchOutput& out, std::size_t o, const Shape& shape,
                     std::span<const std::byte> bytes) const {
    for (std::size_t i = 0; i < batch.items.size(); ++i) {
      const Shape share = share_of(shape, batch.items[i]);
      const auto elements = static_cast<std::size_t>(share.element_count().value_or(0));
      const std::size_t size = bytes_of_strings(bytes, elements);
      out.view(i, o) = TensorView{DataType::kBytes, share, bytes.first(size)};
      bytes = bytes.subspan(size);
    }
  }

  /// Lets go of everything that points into the requests.
  void clear() {
    input_names_.clear();
    input_values_.clear();
    owned_.clear();
    output_owned_.clear();
    strings_.clear();
  }

  const std::shared_ptr<const Session> session_;
  const OrtApi& api_;
  const Signature signature_;
  const TimeSource& time_;
  OrtPtr<OrtRunOptions> run_options_{nullptr, nullptr};
  OrtPtr<OrtMemoryInfo> memory_{nullptr, nullptr};
  std::vector<OutputPlan> outputs_;
  std::vector<AlignedBuffer> gathered_;  // by input
  std::byte nothing_{};                  // where empty tensors point

  // Of the run under way; kept for their capacity.
  std::vector<const char*> input_names_;
  std::vector<const OrtValue*> input_values_;
  std::vector<OrtPtr<OrtValue>> owned_;
  std::vector<TensorView> strings_;
  std::vector<std::size_t> output_index_;
  std::vector<const char*> output_names_;
  std::vector<OrtValue*> output_values_;
  std::vector<OrtPtr<OrtValue>> output_owned_;
  StringScratch scratch_;
};

}  // namespace

Result<std::unique_ptr<Instance>> make_onnx_instance(std::shared_ptr<const Session> session,
                                                     const Signature& signature,
                                                     const TimeSource& time) {
  auto instance = std::make_unique<OnnxInstance>(std::move(session), signature, time);
  TAUTO_RETURN_IF_ERROR(instance->prepare());
  return std::unique_ptr<Instance>(std::move(instance));
}

}  // namespace tauto::engine::onnx
