#include "model/warmup.h"

#include <algorithm>
#include <cstring>

#include "core/arrivals.h"
#include "engine/profile.h"
#include "model/files.h"
#include "model/reshape.h"

namespace tauto::model {
namespace {

constexpr std::size_t kRowBytesMax = std::size_t{1} << 30;
constexpr std::uint64_t kSeed = 20'000;

using Data = WarmupInput::Data;

void store_bytes_element(std::string& out, std::string_view text) {
  const auto length = static_cast<std::uint32_t>(text.size());
  char bytes[sizeof length];
  std::memcpy(bytes, &length, sizeof length);
  out.append(bytes, sizeof bytes).append(text);
}

template <class T>
void store(std::string& out, T value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  out.append(bytes, sizeof bytes);
}

/// Half-precision bits of u/1024 + 1, in [1, 2): no subnormals, no special values.
void store_half(std::string& out, std::uint64_t bits, bool brain) {
  store(out,
        static_cast<std::uint16_t>(brain ? 0x3f80u | (bits & 0x7fu) : 0x3c00u | (bits & 0x3ffu)));
}

/// Random values that models bear: floats in (0, 1], integers 0..99, BYTES of eight letters.
void store_random(std::string& out, DataType type, SplitMix64& random) {
  const auto small = random.next() % 100;
  switch (type) {
    case DataType::kFp32:
      return store(out, static_cast<float>(random.next_unit()));
    case DataType::kFp64:
      return store(out, random.next_unit());
    case DataType::kFp16:
    case DataType::kBf16:
      return store_half(out, random.next(), type == DataType::kBf16);
    case DataType::kBool:
      return store(out, static_cast<std::uint8_t>(small & 1));
    case DataType::kBytes: {
      std::string text(8, 'a');
      for (auto& c : text) c = static_cast<char>('a' + random.next() % 26);
      return store_bytes_element(out, text);
    }
    default:
      break;
  }
  switch (byte_size(type)) {
    case 1:
      return store(out, static_cast<std::uint8_t>(small));
    case 2:
      return store(out, static_cast<std::uint16_t>(small));
    case 4:
      return store(out, static_cast<std::uint32_t>(small));
    default:
      return store(out, small);
  }
}

/// True when `bytes` hold exactly `count` length-prefixed elements.
bool holds_elements(std::string_view bytes, std::int64_t count) {
  for (; count > 0; --count) {
    std::uint32_t length = 0;
    if (bytes.size() < sizeof length) return false;
    std::memcpy(&length, bytes.data(), sizeof length);
    bytes.remove_prefix(sizeof length);
    if (bytes.size() < length) return false;
    bytes.remove_prefix(length);
  }
  return bytes.empty();
}

Result<std::string> file_data(const TensorConfig& tensor, const WarmupInput& input,
                              std::int64_t count, const std::string& directory) {
  const std::string path = directory + "/warmup/" + input.file;
  TAUTO_ASSIGN_OR_RETURN(auto bytes, read_file(path, kRowBytesMax));
  if (tensor.type == DataType::kBytes) {
    if (holds_elements(bytes, count)) return bytes;
    return Error{Code::kInvalidArgument, path + ": does not hold " + std::to_string(count) +
                                             " elements of <length><bytes>"};
  }
  const auto wanted = static_cast<std::size_t>(count) * byte_size(tensor.type);
  if (bytes.size() < wanted) {
    return Error{Code::kInvalidArgument, path + ": has " + std::to_string(bytes.size()) +
                                             " bytes, input \"" + tensor.name + "\" needs " +
                                             std::to_string(wanted)};
  }
  bytes.resize(wanted);
  return bytes;
}

Result<std::string> row_data(const TensorConfig& tensor, const WarmupInput& input,
                             const std::string& directory) {
  const auto count = input.dims.element_count();
  const auto each = std::max<std::size_t>(byte_size(tensor.type), sizeof(std::uint32_t));
  if (!count || static_cast<std::uint64_t>(*count) > kRowBytesMax / each) {
    return Error{Code::kInvalidArgument, "one row of input \"" + tensor.name + "\" with dims " +
                                             input.dims.to_string() + " is over 1 GiB"};
  }
  if (input.data == Data::kFile) return file_data(tensor, input, *count, directory);
  if (input.data == Data::kZero) {
    // A zero length is four zero bytes, an empty BYTES element.
    const auto size =
        tensor.type == DataType::kBytes ? sizeof(std::uint32_t) : byte_size(tensor.type);
    return std::string(static_cast<std::size_t>(*count) * size, '\0');
  }
  std::string out;
  SplitMix64 random(kSeed);
  for (std::int64_t i = 0; i < *count; ++i) store_random(out, tensor.type, random);
  return out;
}

bool is_float(DataType type) {
  return type == DataType::kFp16 || type == DataType::kBf16 || type == DataType::kFp32 ||
         type == DataType::kFp64;
}

bool is_fixed(const Shape& dims) {
  return std::none_of(dims.dims().begin(), dims.dims().end(), [](auto d) { return d < 0; });
}

bool fits(const Shape& shape, const Shape& declared) {
  if (shape.rank() != declared.rank()) return false;
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    if (declared[i] >= 0 && declared[i] != shape[i]) return false;
  }
  return true;
}

/// The dims to warm `tensor` with, nullopt for an optional one that nobody gave a shape.
Result<std::optional<Shape>> warm_dims(const Config& config, const TensorConfig& tensor) {
  if (is_fixed(tensor.dims)) return std::optional(tensor.dims);
  const auto by_name = config.warmup_shapes.find(tensor.name);
  const auto given =
      by_name != config.warmup_shapes.end() ? std::optional(by_name->second) : config.warmup_shape;
  if (!given) {
    if (tensor.optional) return std::optional<Shape>();
    return Error{Code::kInvalidArgument, "not warmed: input \"" + tensor.name +
                                             "\" has free dims " + tensor.dims.to_string() +
                                             "; set tauto.warmup_shape or model_warmup"};
  }
  if (!fits(*given, tensor.dims)) {
    return Error{Code::kInvalidArgument, "not warmed: tauto.warmup_shape " + given->to_string() +
                                             " does not fit input \"" + tensor.name +
                                             "\" with dims " + tensor.dims.to_string() +
                                             " (without the batch dimension)"};
  }
  return given;
}

/// Batches of b items of one row.
class BatchSource {
 public:
  explicit BatchSource(const RowInputs& inputs) : inputs_(inputs) {}
  engine::Batch make(std::uint32_t rows) {
    items_.assign(rows, engine::BatchItem{1, inputs_.views()});
    return {items_, rows};
  }

 private:
  const RowInputs& inputs_;
  std::vector<engine::BatchItem> items_;
};

Status run_once(engine::Instance& instance, const engine::Batch& batch) {
  engine::BatchOutput output;
  engine::BatchTimes times{};
  return instance.run(batch, output, times);
}

/// Where larger batches stopped paying, the largest is still run, so that it is warm and known.
void reach_rows_max(LoadedModel& model, BatchSource& source, const TimeSource& time,
                    Instant until) {
  const auto rows = model.config.rows_max;
  if (model.report.rows_warmed >= rows) return;
  auto& instance = *model.instances.front();
  const auto enough = [&] { return time.now() + 2 * model.service_time.mean(rows) < until; };
  if (!enough() || !run_once(instance, source.make(rows)).ok()) return;
  const Instant start = time.now();
  if (!run_once(instance, source.make(rows)).ok()) return;
  const Duration took = time.now() - start;
  model.service_time.set({rows, took, took});
  model.report.rows_warmed = rows;
}

void profile(LoadedModel& model, BatchSource& source, const TimeSource& time, Instant until) {
  auto& report = model.report;
  engine::ProfilePlan plan;
  plan.rows_max = model.config.rows_max;
  plan.budget = std::max(until - time.now(), Duration::zero());
  const auto maker = [&](std::uint32_t rows) -> Result<engine::Batch> { return source.make(rows); };
  auto measured = engine::measure_service_time(*model.instances.front(), maker, plan, time);
  if (!measured.ok()) {
    report.notes.push_back("not warmed: the first batch fails: " + measured.error().message);
    return;
  }
  auto& profile = measured.value();
  if (report.first_run == Duration::zero()) report.first_run = profile.first_run;
  report.rows_warmed = std::max(report.rows_warmed, profile.rows_warmed);
  model.service_time = std::move(profile.service_time);
  model.profiled = true;
  reach_rows_max(model, source, time, until);
  if (report.rows_warmed < model.config.rows_max) {
    report.notes.push_back("sizes up to " + std::to_string(report.rows_warmed) +
                           " warmed: " + profile.stopped);
  }
  report.one_row = model.service_time.mean(1);
  report.rows_max = model.service_time.mean(std::max(model.config.rows_max, 1u));
  if (model.service_time.points().size() > 1) report.batching_pays = profile.batching_pays;
}

/// Every other instance runs the sizes that the first one was measured with, once.
void warm_others(LoadedModel& model, BatchSource& source, const TimeSource& time, Instant until) {
  for (std::size_t i = 1; i < model.instances.size(); ++i) {
    for (const auto& point : model.service_time.points()) {
      if (time.now() >= until) return;
      if (!run_once(*model.instances[i], source.make(point.rows)).ok()) break;
    }
  }
}

/// Runs every entry of model_warmup on every instance in order; the first entry's inputs are left
/// in `inputs` for the profile.
Status run_written(LoadedModel& model, const std::string& directory, const TimeSource& time,
                   std::optional<RowInputs>& inputs) {
  for (const auto& warmup : model.config.warmups) {
    const auto failed = [&](const Error& e) {
      return Error{e.code, "model_warmup \"" + warmup.name + "\": " + e.message};
    };
    auto made = RowInputs::from_warmup(model.config, warmup, directory);
    if (!made.ok()) return failed(made.error());
    BatchSource source(made.value());
    for (auto& instance : model.instances) {
      for (std::uint32_t n = 0; n < warmup.count; ++n) {
        const Instant start = time.now();
        const auto status = run_once(*instance, source.make(warmup.rows));
        if (!status.ok()) return failed(status.error());
        auto& first_run = model.report.first_run;
        if (first_run == Duration::zero()) first_run = time.now() - start;
      }
    }
    model.report.rows_warmed = std::max(model.report.rows_warmed, warmup.rows);
    if (!inputs) inputs = std::move(made).value();
  }
  return Unit{};
}

}  // namespace

Status RowInputs::add(const TensorConfig& tensor, const WarmupInput& input, bool batch,
                      const std::string& directory) {
  TAUTO_ASSIGN_OR_RETURN(const auto bytes, row_data(tensor, input, directory));
  auto buffer = std::make_unique<AlignedBuffer>();
  std::memcpy(buffer->reserve(std::max<std::size_t>(bytes.size(), 1)), bytes.data(), bytes.size());
  const Shape seen =
      tensor.reshape ? reshape(input.dims, tensor.dims, *tensor.reshape) : input.dims;
  TensorView view;
  view.type = tensor.type;
  if (batch) view.shape.push_back(1);
  for (const auto dim : seen.dims()) view.shape.push_back(dim);
  view.bytes = {buffer->data(), bytes.size()};
  buffers_.push_back(std::move(buffer));
  views_.push_back(view);
  return Unit{};
}

Result<RowInputs> RowInputs::from_warmup(const Config& config, const Warmup& warmup,
                                         const std::string& directory) {
  RowInputs out;
  for (const auto& tensor : config.inputs) {
    const auto it = warmup.inputs.find(tensor.name);
    if (it == warmup.inputs.end()) {  // validated: only optional ones may be absent
      out.views_.emplace_back();
      continue;
    }
    TAUTO_RETURN_IF_ERROR(out.add(tensor, it->second, config.rows_max > 0, directory));
  }
  return out;
}

Result<RowInputs> RowInputs::from_shapes(const Config& config) {
  RowInputs out;
  for (const auto& tensor : config.inputs) {
    TAUTO_ASSIGN_OR_RETURN(const auto dims, warm_dims(config, tensor));
    if (!dims) {
      out.views_.emplace_back();
      continue;
    }
    WarmupInput input;
    input.type = tensor.type;
    input.dims = *dims;
    // Integers are often indexes, for which 0 is the one safe value.
    input.data = is_float(tensor.type) ? Data::kRandom : Data::kZero;
    TAUTO_RETURN_IF_ERROR(out.add(tensor, input, config.rows_max > 0, ""));
  }
  return out;
}

Status warm_up(LoadedModel& model, const std::string& directory, const TimeSource& time,
               const LoadSettings& settings) {
  const Instant start = time.now();
  const Instant until = start + settings.warm_budget;
  std::optional<RowInputs> inputs;
  TAUTO_RETURN_IF_ERROR(run_written(model, directory, time, inputs));
  if (!inputs) {
    auto made = RowInputs::from_shapes(model.config);
    if (!made.ok()) {
      model.report.notes.push_back(made.error().message);
      return Unit{};
    }
    inputs = std::move(made).value();
  }
  BatchSource source(*inputs);
  profile(model, source, time, until);
  warm_others(model, source, time, until);
  model.report.warm = time.now() - start - model.report.first_run;
  return Unit{};
}

}  // namespace tauto::model
