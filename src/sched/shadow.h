#pragma once
// A second, naive account of what a scheduler must do: every answer to the letter, and of every
// batch all but the policy's choice of its size and time. For tests only.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sched/scheduler.h"

namespace tauto::sched {

/// Threads: one. Slow on purpose: maps and full scans, nothing clever to get wrong.
class Shadow {
 public:
  struct Request {
    Arrive asked;
    Instant arrival{};
    std::uint64_t seq = 0;
    std::uint32_t level = 1;
    std::optional<Duration> timeout;
    enum { kFresh, kDelayed, kRunning, kHeld } state = kFresh;
    std::uint64_t rank = 0;  // among the delayed
    bool ordered = false;
    Duration waited{};
    Duration hold{};
    AnswerKind outcome = AnswerKind::kServed;
    bool waiting() const { return state == kFresh || state == kDelayed; }
  };
  struct Model {
    ModelSettings settings;
    bool retired = false;
    bool profiled = false;
    bool holding = false;  // an instance was idle beside a queue after the last step
  };
  struct Instance {
    ModelId model;
    bool draining = false;
    std::optional<BatchId> batch;
    std::vector<std::uint64_t> members;
  };

  /// What is wrong with `actions` as the answer of `scheduler` to the event; empty if nothing.
  std::string step(Instant now, const Event& event, const Actions& actions,
                   const Scheduler& scheduler);

  const std::map<std::uint64_t, Request>& requests() const { return requests_; }
  const std::map<ModelId, Model>& models() const { return models_; }
  const std::map<InstanceId, Instance>& instances() const { return instances_; }

 private:
  void pass_time(Instant now);
  void expire();
  void on(const Arrive& e);
  void on(const Cancel& e);
  void on(const BatchDone& e);
  void on(const Tick&) {}
  void on(const InstanceUp& e);
  void on(const InstanceDown& e);
  void on(const InstanceDrain& e);
  void on(const Profile& e);
  void on(const Configure& e);
  void on(const Retire& e);

  void end(std::uint64_t id, AnswerKind kind);
  void release(ModelId model, std::uint32_t level);
  void strand(ModelId model);
  const QueuePolicy& policy_of(const Model& model, std::uint32_t level) const;
  std::uint32_t level_of(const Model& model, std::uint32_t priority) const;
  std::optional<Instant> due(const Request& r) const;
  std::vector<std::uint64_t> queue(ModelId model) const;
  bool idle(ModelId model) const;
  std::size_t active(ModelId model) const;

  std::string check_answers(const Actions& actions) const;
  std::string take(const Dispatch& dispatch, const Actions& actions);
  std::string check_rest(const Scheduler& scheduler) const;
  std::string check_patience(ModelId id, const Model& model, std::optional<Instant>& wake) const;

  Instant now_ = Instant::min();
  std::uint64_t seq_ = 0;
  std::uint64_t rank_ = 0;
  BatchId last_batch_;
  std::map<std::uint64_t, Request> requests_;  // open ones, by id
  std::map<ModelId, Model> models_;
  std::map<InstanceId, Instance> instances_;
  std::vector<Answer> expected_;
};

/// One line per action, without absolute times: equal decisions give equal text.
std::string action_text(const Actions& actions);

}  // namespace tauto::sched
