#include "engine/synthetic.h"

#include <time.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "core/arrivals.h"
#include "engine/synthetic_settings.h"

namespace tauto::engine {
namespace {

using namespace std::chrono_literals;

/// A kernel timer wakes this late at most on a quiet machine (its slack is 50 us); hybrid waits
/// spin that long.
constexpr Duration kTimerLateness = 80us;

void wait_until(const TimeSource& time, Instant until, Wait wait) {
  if (wait == Wait::kNone) return;
  for (;;) {
    Duration left = until - time.now();
    if (left <= Duration::zero()) return;
    if (wait == Wait::kHybrid) left -= kTimerLateness;
    if (wait == Wait::kSpin || left <= Duration::zero()) {
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
      continue;
    }
    const timespec request{left / 1s, (left % 1s).count()};
    ::clock_nanosleep(CLOCK_MONOTONIC, 0, &request, nullptr);
  }
}

/// How one output is made.
struct OutputPlan {
  std::optional<std::vector<std::byte>> element;  // the constant; absent: a copy of its input
  TensorSpec spec;
  std::size_t elements_per_row = 0;  // of a constant
};

bool dims_fit(const Shape& a, const Shape& b) {
  if (a.rank() != b.rank()) return false;
  for (std::size_t i = 0; i < a.rank(); ++i) {
    if (a[i] != b[i] && a[i] >= 0 && b[i] >= 0) return false;
  }
  return true;
}

Result<OutputPlan> plan_output(const Signature& signature, std::size_t index,
                               const SyntheticSettings& settings) {
  OutputPlan plan{std::nullopt, signature.outputs[index], 0};
  const auto named = settings.outputs.find(plan.spec.name);
  const TensorSpec* input = index < signature.inputs.size() ? &signature.inputs[index] : nullptr;
  const bool constant = named != settings.outputs.end() || settings.output.has_value();
  if (!constant && input != nullptr && input->type == plan.spec.type &&
      dims_fit(input->dims, plan.spec.dims)) {
    return plan;
  }
  std::string text = plan.spec.type == DataType::kBytes ? "" : "0";
  if (settings.output) text = *settings.output;
  if (named != settings.outputs.end()) text = named->second;
  auto element = constant_element(plan.spec.type, text);
  if (!element.ok()) {
    return Error{Code::kInvalidArgument,
                 "tauto.synthetic.output of '" + plan.spec.name + "': " + element.error().message};
  }
  plan.element = std::move(element).value();
  const auto count = plan.spec.dims.element_count();
  if (!count) {
    return Error{Code::kInvalidArgument,
                 "output '" + plan.spec.name + "' " + plan.spec.dims.to_string() +
                     " is a constant here (no input to copy), so its dims must be fixed"};
  }
  plan.elements_per_row = static_cast<std::size_t>(*count);
  return plan;
}

class SyntheticInstance final : public Instance {
 public:
  SyntheticInstance(const TimeSource& time, SyntheticSettings settings,
                    std::vector<OutputPlan> plans, bool batched)
      : time_(time),
        settings_(std::move(settings)),
        plans_(std::move(plans)),
        batched_(batched),
        random_(settings_.seed) {}

  Status run(const Batch& batch, BatchOutput& out, BatchTimes& times) override {
    check_batch(batch, batched_);
    out.reset(batch.items.size(), plans_.size());
    if (settings_.bind_delay > Duration::zero()) {
      wait_until(time_, time_.now() + settings_.bind_delay, settings_.wait);
    }
    times.bind_end = time_.now();
    wait_until(time_, times.bind_end + compute_time(batch.rows), settings_.wait);
    times.compute_end = time_.now();
    Status status = fill(batch, out);
    if (settings_.unbind_delay > Duration::zero()) {
      wait_until(time_, times.compute_end + settings_.unbind_delay, settings_.wait);
    }
    times.unbind_end = time_.now();
    ++runs_;
    if (settings_.fail_every != 0 && runs_ % settings_.fail_every == 0) {
      return Error{Code::kInternal, "planted failure: tauto.synthetic.fail_every"};
    }
    return status;
  }

 private:
  Duration compute_time(std::uint32_t rows) {
    Duration time = settings_.compute.mean(std::max(rows, 1u)) + settings_.compute_delay;
    if (settings_.jitter > Duration::zero()) {
      const auto span = static_cast<std::uint64_t>(settings_.jitter.count()) + 1;
      time += Duration{static_cast<std::int64_t>(random_.next() % span)};
    }
    return time;
  }

  Status fill(const Batch& batch, BatchOutput& out) {
    for (std::size_t o = 0; o < plans_.size(); ++o) {
      if (o < 64 && (batch.outputs_wanted >> o & 1) == 0) continue;
      if (plans_[o].element) {
        fill_constant(batch, out, o);
      } else {
        TAUTO_RETURN_IF_ERROR(copy_input(batch, out, o));
      }
    }
    return Unit{};
  }

  /// Output o of every request is a copy of its input o. A copy, since a view would tie the answer
  /// to the request's body.
  Status copy_input(const Batch& batch, BatchOutput& out, std::size_t o) {
    std::size_t total = 0;
    for (const auto& item : batch.items) {
      const TensorView& from = item.inputs[o];
      if (from.type != plans_[o].spec.type) {
        return Error{Code::kInvalidArgument, "output '" + plans_[o].spec.name + "' copies input " +
                                                 std::to_string(o) + ", which is absent"};
      }
      total += padded(from.bytes.size());
    }
    std::byte* to = out.buffer(o).reserve(total);
    for (std::size_t i = 0; i < batch.items.size(); ++i) {
      const TensorView& from = batch.items[i].inputs[o];
      if (!from.bytes.empty()) std::memcpy(to, from.bytes.data(), from.bytes.size());
      out.view(i, o) = TensorView{from.type, from.shape, {to, from.bytes.size()}};
      to += padded(from.bytes.size());
    }
    return Unit{};
  }

  void fill_constant(const Batch& batch, BatchOutput& out, std::size_t o) {
    const OutputPlan& plan = plans_[o];
    const std::size_t row = plan.element->size() * plan.elements_per_row;
    std::byte* to = out.buffer(o).reserve(row * batch.rows);
    for (std::size_t i = 0; i < batch.items.size(); ++i) {
      const std::uint32_t rows = batched_ ? batch.items[i].rows : 1;
      Shape shape;
      if (batched_) shape.push_back(rows);
      for (const auto d : plan.spec.dims.dims()) shape.push_back(d);
      out.view(i, o) = TensorView{plan.spec.type, shape, {to, row * rows}};
      for (std::size_t n = 0; n < plan.elements_per_row * rows; ++n) {
        std::memcpy(to, plan.element->data(), plan.element->size());
        to += plan.element->size();
      }
    }
  }

  static std::size_t padded(std::size_t bytes) {
    return (bytes + AlignedBuffer::kAlignment - 1) / AlignedBuffer::kAlignment *
           AlignedBuffer::kAlignment;
  }

  const TimeSource& time_;
  const SyntheticSettings settings_;
  const std::vector<OutputPlan> plans_;
  const bool batched_;
  SplitMix64 random_;
  std::uint64_t runs_ = 0;
};

class SyntheticModel final : public Model {
 public:
  SyntheticModel(const TimeSource& time, SyntheticSettings settings, ModelDescription description)
      : time_(time), settings_(std::move(settings)), description_(std::move(description)) {}

  const ModelDescription& description() const override { return description_; }

  Result<std::unique_ptr<Instance>> make_instance(const Signature& signature) override {
    if (signature.outputs.empty()) {
      return Error{Code::kInvalidArgument, "a synthetic model needs at least one output"};
    }
    for (const auto& [name, value] : settings_.outputs) {
      const auto has_name = [&name = name](const TensorSpec& spec) { return spec.name == name; };
      if (std::none_of(signature.outputs.begin(), signature.outputs.end(), has_name)) {
        return Error{Code::kInvalidArgument,
                     "parameter 'tauto.synthetic.output." + name + "': no such output"};
      }
    }
    std::vector<OutputPlan> plans;
    for (std::size_t o = 0; o < signature.outputs.size(); ++o) {
      TAUTO_ASSIGN_OR_RETURN(auto plan, plan_output(signature, o, settings_));
      plans.push_back(std::move(plan));
    }
    SyntheticSettings settings = settings_;
    settings.seed += instances_++;  // instances differ, runs of one seed do not
    return std::unique_ptr<Instance>(std::make_unique<SyntheticInstance>(
        time_, std::move(settings), std::move(plans), signature.rows_max > 0));
  }

  std::uint64_t memory_bytes() const override { return 0; }

 private:
  const TimeSource& time_;
  const SyntheticSettings settings_;
  const ModelDescription description_;
  std::uint64_t instances_ = 0;
};

/// What a file would say about itself: the declared tensors, with a free batch dimension.
std::vector<TensorSpec> with_batch(std::vector<TensorSpec> specs, bool batched) {
  if (!batched) return specs;
  for (auto& spec : specs) {
    Shape dims{-1};
    for (const auto d : spec.dims.dims()) dims.push_back(d);
    spec.dims = dims;
  }
  return specs;
}

class SyntheticEngine final : public Engine {
 public:
  explicit SyntheticEngine(const TimeSource& time) : time_(time) {}
  std::string name() const override { return "synthetic"; }
  std::string version() const override { return "1"; }

  Result<std::unique_ptr<Model>> load(const LoadOptions& options) override {
    TAUTO_ASSIGN_OR_RETURN(auto settings, parse_synthetic_settings(options.parameters));
    if (options.declared.outputs.empty()) {
      return Error{Code::kInvalidArgument,
                   "a synthetic model has no file to learn from: its config must list inputs and "
                   "outputs"};
    }
    const bool batched = options.rows_max > 0;
    for (const auto* specs : {&options.declared.inputs, &options.declared.outputs}) {
      for (const auto& spec : *specs) {
        if (batched && !Shape::fits(spec.dims.rank() + 1)) {
          return Error{Code::kInvalidArgument, "'" + spec.name + "' has too many dims: at most " +
                                                   std::to_string(Shape::kRankMax) +
                                                   " with the batch dimension"};
        }
      }
    }
    ModelDescription description{with_batch(options.declared.inputs, batched),
                                 with_batch(options.declared.outputs, batched)};
    return std::unique_ptr<Model>(
        std::make_unique<SyntheticModel>(time_, std::move(settings), std::move(description)));
  }

 private:
  const TimeSource& time_;
};

}  // namespace

std::unique_ptr<Engine> make_synthetic_engine(const TimeSource& time) {
  return std::make_unique<SyntheticEngine>(time);
}

}  // namespace tauto::engine
