#pragma once
// One inference request while it is in the house, whichever front end brought it, and the batch it
// may become part of.

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "core/ids.h"
#include "core/tensor.h"
#include "engine/engine.h"
#include "journey/journey.h"
#include "sched/actions.h"
#include "sched/events.h"

namespace tauto::serve {

class InstanceWorker;
class ModelHost;
struct Request;
struct LoopContext;

/// What a front end does when the scheduler has decided. Called on the request's own loop thread.
class FrontEnd {
 public:
  virtual ~FrontEnd() = default;
  /// Request::answer is set: send it. Called exactly once a request.
  virtual void answer(Request& request) = 0;
  /// Nobody uses the request's memory any more: it may be reused.
  virtual void release(Request& request) = 0;
};

/// Requests that run together. Owned by the device group, reused; a member lets go of it when its
/// answer has left the house.
struct BatchRun {
  BatchId id{};
  InstanceId instance{};
  InstanceWorker* worker = nullptr;
  ModelHost* model = nullptr;
  sched::DispatchReason reason{};
  std::uint32_t rows = 0;
  std::vector<Request*> members;
  std::vector<engine::BatchItem> items;
  engine::BatchOutput output;
  engine::BatchTimes times{};
  std::optional<Error> error;                 // the engine's, for every member
  std::atomic<std::int64_t> picked_up_ns{0};  // 0 until an engine thread has it
  std::atomic<std::uint32_t> users{0};        // members that still read `output` or `items`

  Instant picked_up() const { return instant_at_ns(picked_up_ns.load(std::memory_order_acquire)); }
};

/// Threads: its loop thread, except where a comment says otherwise.
struct Request {
  explicit Request(FrontEnd& owner) : front_end(owner) {}

  FrontEnd& front_end;
  LoopContext* loop = nullptr;
  ModelHost* model = nullptr;
  journey::Journey journey{Instant{}};

  // Filled by the front end before DeviceGroup::arrive; then read by the engine until the batch
  // ends.
  std::string_view client_id;        // as the client sent it; may be empty
  std::vector<TensorView> inputs;    // in signature order
  std::uint64_t outputs_wanted = 0;  // bit i: output i of the signature
  sched::Arrive arrive{};            // id and model are set by the group
  std::uint32_t label_index = 0;     // of its label values, see journey/labels.h

  // Set by the group under its mutex, read here after the answer.
  std::uint32_t depth_on_arrival = 0;
  BatchRun* batch = nullptr;
  std::uint32_t batch_index = 0;
  sched::Answer answer{};

  // Lifetime: gone when answered, sent and out of its batch.
  bool answered = false;
  bool sent = false;
  bool batch_done = false;
};

}  // namespace tauto::serve
