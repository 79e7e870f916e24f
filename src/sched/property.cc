#include "sched/property.h"

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "sched/shadow.h"

namespace tauto::sched {
namespace {

struct Entry {
  Instant now;
  Event event;
};

/// Makes up events that a caller could send, looking at the shadow for what exists.
class History {
 public:
  explicit History(std::uint64_t seed) : rng_(seed) {}

  /// Up to where requests stop coming.
  std::string run(std::size_t steps, std::uint64_t first_policy) {
    for (std::uint32_t m = 0; m < 1 + pick(3) && wrong_.empty(); ++m) {
      send(Configure{ModelId{m}, settings((first_policy + m) % 4)});
      for (std::uint64_t i = pick(4); i > 0; --i) send(up(ModelId{m}));
    }
    for (std::size_t i = 0; i < steps && wrong_.empty(); ++i) {
      pass(grain() * static_cast<std::int64_t>(pick(3) == 0 ? pick(40) : pick(4)));
      if (wrong_.empty()) act();
    }
    return wrong_;
  }
  /// Everything that is open comes to its end.
  std::string finish() {
    for (std::uint32_t m = 0; m < shadow_.models().size(); ++m) send(Retire{ModelId{m}});
    if (chance(50)) {
      for (int i = 0; i < 1000 && wrong_.empty() && scheduler_.open_requests() > 0; ++i) {
        pass(grain() * 4);
        done();
      }
    }
    for (std::uint32_t i = 0; i < instances_; ++i) send(InstanceDown{InstanceId{i}});
    if (wrong_.empty() && scheduler_.open_requests() > 0) wrong_ = "requests left at the end";
    if (wrong_.empty() && scheduler_.next_wake()) wrong_ = "a wake left at the end";
    return wrong_;
  }
  std::string save() const { return scheduler_.save(); }
  const std::vector<Entry>& log() const { return log_; }
  const std::string& actions() const { return text_; }

 private:
  static constexpr Duration grain() { return Duration{250'000}; }  // coarse: ties are common
  std::uint64_t pick(std::uint64_t below) { return rng_() % below; }
  bool chance(std::uint64_t percent) { return pick(100) < percent; }
  Duration some_time(std::uint64_t below) {
    // One draw a statement: the order of operands is the compiler's to choose.
    const Duration coarse = grain() * static_cast<std::int64_t>(pick(below));
    return chance(20) ? coarse + Duration{static_cast<std::int64_t>(pick(1000))} : coarse;
  }

  void send(const Event& event) {
    if (!wrong_.empty()) return;
    log_.push_back({now_, event});
    actions_.clear();
    scheduler_.step(now_, event, actions_);
    text_ += action_text(actions_);
    wrong_ = shadow_.step(now_, event, actions_, scheduler_);
    if (!wrong_.empty()) wrong_ = "step " + std::to_string(log_.size() - 1) + ": " + wrong_;
  }

  /// Ticks are mostly in time, sometimes late or left out.
  void pass(Duration d) {
    const Instant until = now_ + d;
    while (wrong_.empty() && chance(85)) {
      const auto wake = scheduler_.next_wake();
      if (!wake || *wake > until) break;
      now_ = *wake + (chance(10) ? some_time(4) : Duration{});
      send(Tick{});
    }
    now_ = std::max(now_, until);
  }

  void act() {
    const std::uint64_t dice = pick(1000);
    if (dice < 560) return send(arrival());
    if (dice < 850) return done();
    if (dice < 905) return send(Cancel{some_request()});
    if (dice < 935) return send(up(some_model()));
    if (dice < 945) return send(InstanceDown{some_instance()});
    if (dice < 960) return send(InstanceDrain{some_instance()});
    if (dice < 970) return send(Profile{some_model(), ServiceTime::linear(some_time(9), grain())});
    if (dice < 976) return send(Retire{some_model()});
    if (dice < 990) return reconfigure();
    send(Tick{});
  }

  Arrive arrival() {
    Arrive a;
    a.model = some_model();
    a.id = RequestId{(++requests_ << 32) | pick(64)};
    const auto& s = shadow_.models().at(a.model).settings;
    a.rows = static_cast<std::uint32_t>(chance(70) ? 1 : 1 + pick(s.rows_max));
    a.compat_key = CompatKey{chance(85) ? 0 : pick(3)};
    a.priority = static_cast<std::uint32_t>(chance(50) ? 0 : pick(5));
    if (chance(30)) a.queue_timeout = some_time(40);
    if (chance(60)) a.deadline = now_ + some_time(80) - grain();
    return a;
  }

  void done() {
    std::vector<BatchId> running;
    for (const auto& [id, i] : shadow_.instances()) {
      if (i.batch) running.push_back(*i.batch);
    }
    BatchId batch{running.empty() || chance(5) ? pick(50) : running[pick(running.size())].value};
    const auto outcome = chance(10) ? BatchOutcome::kFailed : BatchOutcome::kOk;
    send(BatchDone{batch, some_time(9), outcome});
    if (chance(10)) send(BatchDone{batch, some_time(9), outcome});
  }

  void reconfigure() {
    const ModelId model = some_model();
    send(Configure{model, chance(30) ? shadow_.models().at(model).settings : settings(pick(4))});
  }

  ModelId some_model() {
    return ModelId{static_cast<std::uint32_t>(pick(shadow_.models().size()))};
  }
  RequestId some_request() {
    const auto& open = shadow_.requests();
    if (open.empty() || chance(10)) return RequestId{pick(1000) << 32};
    return std::next(open.begin(), static_cast<std::ptrdiff_t>(pick(open.size())))->second.asked.id;
  }
  InstanceId some_instance() {
    return InstanceId{static_cast<std::uint32_t>(pick(instances_ + 2))};
  }
  InstanceUp up(ModelId model) { return {InstanceId{instances_++}, model}; }

  ModelSettings settings(std::uint64_t policy) {
    ModelSettings s;
    s.policy = static_cast<PolicyKind>(policy);
    s.rows_max = static_cast<std::uint32_t>(1 + pick(8));
    s.rows_fixed = static_cast<std::uint32_t>(1 + pick(s.rows_max));
    for (std::uint32_t rows = 1; rows <= s.rows_max; ++rows) {
      if (chance(30)) s.rows_preferred.push_back(rows);
    }
    if (chance(70)) s.hold_max = some_time(40);
    s.preserve_ordering = chance(30);
    s.priority_levels = static_cast<std::uint32_t>(chance(60) ? 0 : 1 + pick(3));
    s.priority_default =
        s.priority_levels == 0 ? 0 : static_cast<std::uint32_t>(1 + pick(s.priority_levels));
    if (chance(50)) s.queue_default = queue_policy();
    for (std::uint32_t level = 1; level <= s.priority_levels; ++level) {
      if (chance(40)) s.queue_by_priority.emplace_back(level, queue_policy());
    }
    s.queue_depth_max = static_cast<std::uint32_t>(chance(50) ? 1 + pick(12) : 10'000);
    s.late_is_error = chance(75);
    return s;
  }
  QueuePolicy queue_policy() {
    QueuePolicy q;
    q.timeout_action = chance(50) ? TimeoutAction::kReject : TimeoutAction::kDelay;
    if (chance(60)) q.timeout_default = some_time(40);
    q.timeout_override = chance(50);
    if (chance(40)) q.queue_depth_max = static_cast<std::uint32_t>(pick(6));
    return q;
  }

  std::mt19937_64 rng_;
  Scheduler scheduler_;
  Shadow shadow_;
  Actions actions_;
  Instant now_{};
  std::uint64_t requests_ = 0;
  std::uint32_t instances_ = 0;
  std::vector<Entry> log_;
  std::string text_;
  std::string wrong_;
};

Event shifted(Event event, Duration by) {
  if (auto* arrive = std::get_if<Arrive>(&event); arrive && arrive->deadline) {
    *arrive->deadline += by;
  }
  return event;
}

/// The actions of a log, with all times shifted; saved and restored after every `restore_every`
/// steps (0: never).
std::string replay(const std::vector<Entry>& log, Duration shift, std::size_t restore_every) {
  Scheduler scheduler;
  Actions actions;
  std::string text;
  for (std::size_t i = 0; i < log.size(); ++i) {
    actions.clear();
    scheduler.step(log[i].now + shift, shifted(log[i].event, shift), actions);
    text += action_text(actions);
    if (restore_every == 0 || i % restore_every != 0) continue;
    auto restored = Scheduler::restore(scheduler.save());
    if (!restored.ok()) return "step " + std::to_string(i) + ": " + restored.error().message;
    scheduler = std::move(restored).value();
  }
  return text;
}

}  // namespace

std::string check_seed(std::uint64_t seed) {
  History history(seed);
  if (auto wrong = history.run(250, seed); !wrong.empty()) return wrong;
  if (auto wrong = history.finish(); !wrong.empty()) return wrong;
  const auto& log = history.log();
  if (replay(log, Duration{}, 0) != history.actions()) return "a replay differs";
  if (replay(log, Duration{}, 1 + seed % 40) != history.actions()) {
    return "a replay through save and restore differs";
  }
  if (replay(log, Duration{std::int64_t{1} << 50}, 0) != history.actions()) {
    return "shifted in time it differs";
  }
  return {};
}

std::string snapshot_of_seed(std::uint64_t seed) {
  History history(seed);
  history.run(100, seed);
  return history.save();
}

}  // namespace tauto::sched
