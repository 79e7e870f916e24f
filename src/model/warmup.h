#pragma once
// What instances run before they are ready, and how long it took.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "core/buffer.h"
#include "engine/engine.h"
#include "model/config.h"
#include "model/loader.h"

namespace tauto::model {

/// One row of every input, owned here; a batch of b rows is b items that share it, as b requests of
/// one row would be. Movable; the views stay valid.
class RowInputs {
 public:
  /// As a model_warmup entry says; its files lie in `directory`/warmup.
  /// Errors: a file that is absent or has too few bytes, naming it.
  static Result<RowInputs> from_warmup(const Config& config, const Warmup& warmup,
                                       const std::string& directory);
  /// From fixed dims, tauto.warmup_shape and tauto.warmup_shape by name: integers are 0, floats
  /// random. Errors: kInvalidArgument, naming the input whose dims are free.
  static Result<RowInputs> from_shapes(const Config& config);

  std::span<const TensorView> views() const { return views_; }

 private:
  Status add(const TensorConfig& tensor, const WarmupInput& input, bool batch,
             const std::string& directory);

  std::vector<std::unique_ptr<AlignedBuffer>> buffers_;
  std::vector<TensorView> views_;
};

/// Runs model_warmup on every instance in order, then row counts 1, 2, 4 .. until the budget is
/// spent or l(b)/b stops falling, and measures them on the first instance. Fills service_time,
/// profiled and report. Errors: an entry of model_warmup that fails.
Status warm_up(LoadedModel& model, const std::string& directory, const TimeSource& time,
               const LoadSettings& settings);

}  // namespace tauto::model
