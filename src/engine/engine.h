#pragma once
// What every engine offers: load a model file, describe it, run one batch at a time, report memory.
// Exceptions and types of the libraries behind it end in the engine's own folder.

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/result.h"
#include "base/time.h"
#include "core/buffer.h"
#include "core/tensor.h"

namespace tauto::engine {

/// One request inside a batch. Views live until the batch is done; their shapes, like those of the
/// outputs, include the batch dimension (= rows) where the model has one.
struct BatchItem {
  std::uint32_t rows;                  // 1 when the model has no batch dimension
  std::span<const TensorView> inputs;  // in signature order; kInvalid = absent optional input
};

struct Batch {
  std::span<const BatchItem> items;  // >= 1; exactly 1 when the model has no batch dimension
  std::uint32_t rows;                // sum over items
  std::uint64_t outputs_wanted = ~std::uint64_t{0};  // bit i: output i of the signature is needed
};

/// Aborts unless the numbers of `batch` agree: engines size their buffers by `rows`.
inline void check_batch(const Batch& batch, bool has_batch_dimension) {
  std::uint64_t rows = 0;
  for (const auto& item : batch.items) rows += item.rows;
  TAUTO_CHECK(!batch.items.empty() && rows == batch.rows);
  TAUTO_CHECK(has_batch_dimension || (batch.items.size() == 1 && batch.rows == 1));
}

/// When the parts of a run ended, stamped by the engine: bind (inputs in place), compute (engine
/// returned), unbind (outputs in host memory). bind <= compute <= unbind.
struct BatchTimes {
  Instant bind_end;
  Instant compute_end;
  Instant unbind_end;
};

/// The outputs of one batch: `view(item, output)` gives one request's share, in place. Reused from
/// batch to batch; buffers keep their size. Views live until the next run with this object.
class BatchOutput {
 public:
  void reset(std::size_t items, std::size_t outputs) {
    items_ = items;
    outputs_ = outputs;
    views_.assign(items * outputs, TensorView{});
    if (buffers_.size() < outputs) buffers_.resize(outputs);
  }
  TensorView& view(std::size_t item, std::size_t output) {
    return views_[item * outputs_ + output];
  }
  const TensorView& view(std::size_t item, std::size_t output) const {
    return views_[item * outputs_ + output];
  }
  /// Storage of one output for the whole batch.
  AlignedBuffer& buffer(std::size_t output) { return buffers_[output]; }
  /// Keeps an engine's own memory alive as long as the views (outputs of unknown shape).
  std::shared_ptr<void> keep_alive;
  std::size_t items() const { return items_; }
  std::size_t outputs() const { return outputs_; }

 private:
  std::size_t items_ = 0;
  std::size_t outputs_ = 0;
  std::vector<TensorView> views_;
  std::vector<AlignedBuffer> buffers_;
};

/// Names and types as the model file states them. `dims` here include the batch dimension where the
/// file has one (-1), since only the config says whether dimension 0 is a batch.
struct ModelDescription {
  std::vector<TensorSpec> inputs;
  std::vector<TensorSpec> outputs;
};

/// What the config decided; `inputs` and `outputs` are without the batch dimension.
struct Signature {
  std::vector<TensorSpec> inputs;
  std::vector<TensorSpec> outputs;
  std::uint32_t rows_max = 0;  // 0: the model has no batch dimension
};

/// One place where a batch can run. Threads: run() by one thread at a time, any thread.
class Instance {
 public:
  virtual ~Instance() = default;
  /// Blocks until the outputs are in host memory. Errors: kInvalidArgument when the inputs cannot
  /// run (then each request gets the error), kInternal for the engine's own failures.
  virtual Status run(const Batch& batch, BatchOutput& out, BatchTimes& times) = 0;
};

/// A loaded model file; its weights are shared by its instances where the engine can.
/// Threads: describe() any; make_instance() one at a time.
class Model {
 public:
  virtual ~Model() = default;
  virtual const ModelDescription& description() const = 0;
  /// Errors: kInvalidArgument when the signature does not fit the file (names, types, ranks).
  virtual Result<std::unique_ptr<Instance>> make_instance(const Signature& signature) = 0;
  /// Bytes held for weights and arenas, as far as the engine knows; 0 = unknown.
  virtual std::uint64_t memory_bytes() const = 0;
};

struct LoadOptions {
  std::string model_path;                         // file or directory; "" for synthetic
  std::map<std::string, std::string> parameters;  // config.pbtxt `parameters`, as written
  int threads = 1;                                // per instance, >= 1
  bool spin = false;                              // worker threads may spin between operators
  int graph_level = 99;                           // config `optimization.graph.level`; 99 = not set
  std::uint32_t rows_max = 0;                     // config `max_batch_size`
  Signature declared;                             // config inputs and outputs; may be empty
};

/// One per process and kind. Threads: load() any.
class Engine {
 public:
  virtual ~Engine() = default;
  virtual std::string name() const = 0;     // "onnx", "synthetic"
  virtual std::string version() const = 0;  // of the library behind it
  virtual Result<std::unique_ptr<Model>> load(const LoadOptions& options) = 0;
};

}  // namespace tauto::engine
