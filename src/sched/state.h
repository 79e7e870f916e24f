#pragma once
// What is behind Scheduler: the parts that its .cc files share. Not for other rooms.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "core/ids.h"
#include "core/service_time.h"
#include "sched/policy.h"
#include "sched/request_table.h"
#include "sched/scheduler.h"
#include "sched/time_heap.h"
#include "sched/waiting_queue.h"

namespace tauto::sched {

/// How long, in all, an instance was idle while the queue was not empty. A request's hold is the
/// difference between two readings, so that it costs nothing per request.
class HoldClock {
 public:
  Duration at(Instant now) const { return running_ ? total_ + (now - since_) : total_; }
  void set(bool running, Instant now) {
    if (running == running_) return;
    total_ = at(now);
    since_ = now;
    running_ = running;
  }
  void save(ByteWriter& out) const;
  void restore(ByteReader& in, Instant now);

 private:
  Duration total_{};
  Instant since_{};
  bool running_ = false;
};

struct Model {
  ModelId id;
  ModelSettings settings;
  std::unique_ptr<Policy> policy;
  ServiceTime service_time;
  WaitingQueue queue;
  std::vector<std::uint32_t> instances;  // indices, ascending by InstanceId
  std::uint32_t active = 0;              // instances that are not draining
  std::uint32_t idle = 0;                // of those, not running
  HoldClock hold;
  bool retired = false;
  bool touched = false;  // within a step: to be decided at its end
};

struct Instance {
  InstanceId id;
  std::uint32_t model = 0;
  BatchId batch;  // only while busy
  bool present = false;
  bool draining = false;
  bool busy = false;
  SlotList members;  // of the running batch, not answered yet
};

struct Scheduler::State {
  Instant now = Instant{-kTimeMax};
  std::uint64_t seq_next = 0;
  std::uint64_t batch_next = 1;
  RequestTable requests;
  TimeHeap request_times;  // deadlines and queue timeouts, by slot
  TimeHeap model_times;    // when a policy wants to be asked again, by model index
  std::vector<Model> models;
  IdMap model_index;
  std::vector<Instance> instances;
  IdMap instance_index;
  IdMap batch_index;  // running batches, to instance indices
  std::vector<std::uint32_t> touched;
  std::vector<Slot> picked;
  Actions* actions = nullptr;  // during step()

  // scheduler.cc: one step, from what is due to what goes next.
  void expire_due();
  void touch(std::uint32_t model);
  void settle_touched();
  void decide(std::uint32_t model);
  void dispatch(std::uint32_t model, DispatchReason reason);
  std::uint32_t idle_instance(const Model& model) const;

  // request_events.cc: a request comes, and leaves by exactly one answer.
  void apply(const Arrive& e);
  void apply(const Cancel& e);
  void apply(const BatchDone& e);
  void apply(const Tick&) {}
  void file(Slot slot);
  void set_time(Slot slot);
  Answer describe(const Request& r, AnswerKind kind) const;
  void leave(Slot slot, AnswerKind kind);
  void release_in_order(std::uint32_t model, std::uint32_t level);
  void refuse(const Arrive& e, AnswerKind kind);
  std::optional<std::uint32_t> full_bound(const Model& model, std::uint32_t level) const;

  // model_events.cc: models and instances come, change and go.
  void apply(const InstanceUp& e);
  void apply(const InstanceDown& e);
  void apply(const InstanceDrain& e);
  void apply(const Profile& e);
  void apply(const Configure& e);
  void apply(const Retire& e);
  void add_instance(const Instance& instance);
  void refile(std::uint32_t model, ModelSettings settings);
  void give_up_if_stranded(std::uint32_t model);

  // snapshot.cc
  void save(std::string& bytes) const;
  void save_model(ByteWriter& out, std::uint32_t model) const;
  void restore(ByteReader& in);
  void restore_model(ByteReader& in, std::size_t& levels);
  void restore_instance(ByteReader& in, std::uint32_t model);
  Slot restore_open(ByteReader& in, std::uint32_t model);
};

/// Whether Configure would take it; what is wrong with it otherwise is the configuration reader's
/// to say.
bool valid_settings(const ModelSettings& settings);
ModelSettings clamped(ModelSettings settings);

/// Triton's 0 means none.
inline bool has_timeout(const QueuePolicy& policy) {
  return policy.timeout_default.value_or(Duration{}) > Duration{};
}

/// When what waits for `model` will have been started, by l(b) and the instances; at least 1 ms.
/// nullopt when l(b) is unknown or there is no instance.
std::optional<Duration> drain_time(const Model& model);

}  // namespace tauto::sched
