#include "sched/scenario.h"

#include <charconv>
#include <map>
#include <optional>
#include <vector>

#include "base/text.h"
#include "sched/scheduler.h"

namespace tauto::sched {
namespace {

/// The words of one line; the first misuse is remembered and ends the line.
class Words {
 public:
  explicit Words(std::string_view line) {
    while (true) {
      const auto start = line.find_first_not_of(' ');
      if (start == line.npos) return;
      line.remove_prefix(start);
      const auto length = std::min(line.find(' '), line.size());
      words_.push_back(line.substr(0, length));
      line.remove_prefix(length);
    }
  }
  bool empty() const { return next_ == words_.size(); }
  std::string_view word() {
    if (empty()) return fail("a word is missing"), "";
    return words_[next_++];
  }
  bool accept(std::string_view word) {
    if (empty() || words_[next_] != word) return false;
    ++next_;
    return true;
  }
  std::uint32_t number(std::string_view text) {
    std::uint32_t n = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
    if (error != std::errc{} || end != text.data() + text.size()) {
      fail("not a number: " + std::string(text));
    }
    return n;
  }
  std::uint32_t number() { return number(word()); }
  /// "r12" with the letter 'r' is 12.
  std::uint32_t tagged(char letter) {
    const std::string_view text = word();
    if (text.empty() || text[0] != letter) return fail("not an id: " + std::string(text)), 0;
    return number(text.substr(1));
  }
  std::vector<std::uint32_t> numbers() {
    std::vector<std::uint32_t> list;
    for (std::string_view text = word(); !text.empty();) {
      const auto comma = std::min(text.find(','), text.size());
      list.push_back(number(text.substr(0, comma)));
      text.remove_prefix(std::min(comma + 1, text.size()));
    }
    return list;
  }
  Duration duration() {
    auto d = parse_duration(word());
    if (d.ok()) return d.value();
    fail(d.error().message);
    return {};
  }
  void fail(std::string what) {
    if (error_.empty()) error_ = std::move(what);
  }
  const std::string& error() const { return error_; }

 private:
  std::vector<std::string_view> words_;
  std::size_t next_ = 0;
  std::string error_;
};

class Runner {
 public:
  explicit Runner(bool restoring) : restoring_(restoring) {}

  ScenarioResult run(std::string_view text) {
    std::size_t number = 0;
    while (!text.empty()) {
      const auto end = std::min(text.find('\n'), text.size());
      std::string_view line = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      ++number;
      line = line.substr(0, line.find('#'));
      Words words(line);
      if (words.empty()) continue;
      this->line(words);
      if (words.error().empty() && !words.empty()) {
        words.fail("unknown word: " + std::string(words.word()));
      }
      if (!words.error().empty()) {
        return {{}, "line " + std::to_string(number) + ": " + words.error()};
      }
    }
    while (ticks_ && scheduler_.next_wake()) step(*scheduler_.next_wake(), Tick{});
    return {out_, {}};
  }

 private:
  void line(Words& w) {
    if (w.accept("ticks")) {
      ticks_ = false;
      if (!w.accept("off")) w.fail("ticks can only be off");
      return;
    }
    if (w.accept("instance")) return up(w);
    if (w.accept("at")) {
      const Instant at{w.duration()};
      if (at < now_) return w.fail("time goes back");
      while (ticks_ && scheduler_.next_wake() && *scheduler_.next_wake() < at) {
        step(*scheduler_.next_wake(), Tick{});
      }
      now_ = at;
    }
    event(w);
  }

  void event(Words& w) {
    if (w.accept("arrive")) return arrive(w);
    if (w.accept("model")) return model(w);
    if (w.accept("queue")) return queue(w);
    if (w.accept("profile")) return profile(w);
    if (w.accept("up")) return up(w);
    if (w.accept("cancel")) return step(now_, Cancel{RequestId{w.tagged('r')}});
    if (w.accept("down")) return step(now_, InstanceDown{InstanceId{w.tagged('i')}});
    if (w.accept("drain")) return step(now_, InstanceDrain{InstanceId{w.tagged('i')}});
    if (w.accept("retire")) return step(now_, Retire{model_named(w)});
    if (w.accept("tick")) return step(now_, Tick{});
    if (w.accept("state")) return print_state();
    if (w.accept("done")) {
      const BatchId batch{w.tagged('b')};
      const auto outcome = w.accept("failed") ? BatchOutcome::kFailed : BatchOutcome::kOk;
      return step(now_, BatchDone{batch, {}, outcome});
    }
    w.fail("unknown word: " + std::string(w.word()));
  }

  ModelId model_named(Words& w) {
    const auto found = models_.find(std::string(w.word()));
    if (found != models_.end()) return found->second;
    w.fail("no such model");
    return {};
  }

  void model(Words& w) {
    const std::string name(w.word());
    const auto [at, added] =
        models_.try_emplace(name, ModelId{static_cast<std::uint32_t>(models_.size())});
    ModelSettings& s = settings_[name];
    if (added) s.rows_max = 8;
    while (!w.empty() && w.error().empty()) setting(w, s);
    if (w.error().empty()) step(now_, Configure{at->second, s});
  }

  void setting(Words& w, ModelSettings& s) {
    if (w.accept("policy")) {
      if (w.accept("direct"))
        s.policy = PolicyKind::kDirect;
      else if (w.accept("eager"))
        s.policy = PolicyKind::kEager;
      else if (w.accept("fixed"))
        s.policy = PolicyKind::kFixed;
      else if (w.accept("triton"))
        s.policy = PolicyKind::kTriton;
      else
        w.fail("unknown policy");
    } else if (w.accept("rows_max")) {
      s.rows_max = w.number();
    } else if (w.accept("rows_fixed")) {
      s.rows_fixed = w.number();
    } else if (w.accept("preferred")) {
      s.rows_preferred = w.numbers();
    } else if (w.accept("hold")) {
      s.hold_max = w.duration();
    } else if (w.accept("levels")) {
      s.priority_levels = w.number();
    } else if (w.accept("default")) {
      s.priority_default = w.number();
    } else if (w.accept("depth")) {
      s.queue_depth_max = w.number();
    } else if (w.accept("ordering")) {
      s.preserve_ordering = !w.accept("off");
    } else if (w.accept("late_is_fine")) {
      s.late_is_error = false;
    } else {
      w.fail("unknown word: " + std::string(w.word()));
    }
  }

  void queue(Words& w) {
    const std::string name(w.word());
    if (!models_.contains(name)) return w.fail("no such model");
    ModelSettings& s = settings_[name];
    QueuePolicy* policy = &s.queue_default;
    if (!w.accept("default")) {
      policy = &s.queue_by_priority.emplace_back(w.number(), QueuePolicy{}).second;
    }
    while (!w.empty() && w.error().empty()) {
      if (w.accept("timeout"))
        policy->timeout_default = w.duration();
      else if (w.accept("delay"))
        policy->timeout_action = TimeoutAction::kDelay;
      else if (w.accept("reject"))
        policy->timeout_action = TimeoutAction::kReject;
      else if (w.accept("override"))
        policy->timeout_override = true;
      else if (w.accept("depth"))
        policy->queue_depth_max = w.number();
      else
        w.fail("unknown word: " + std::string(w.word()));
    }
    if (w.error().empty()) step(now_, Configure{models_[name], s});
  }

  void profile(Words& w) {
    const ModelId model = model_named(w);
    if (!w.accept("fixed")) w.fail("expected: fixed");
    const Duration fixed = w.duration();
    if (!w.accept("per_row")) w.fail("expected: per_row");
    const Duration per_row = w.duration();
    if (w.error().empty()) step(now_, Profile{model, ServiceTime::linear(fixed, per_row)});
  }

  void up(Words& w) {
    const InstanceId instance{w.tagged('i')};
    const ModelId model = model_named(w);
    if (w.error().empty()) step(now_, InstanceUp{instance, model});
  }

  void arrive(Words& w) {
    Arrive a;
    a.id = RequestId{w.tagged('r')};
    while (!w.empty() && w.error().empty()) {
      if (w.accept("model"))
        a.model = model_named(w);
      else if (w.accept("rows"))
        a.rows = w.number();
      else if (w.accept("priority"))
        a.priority = w.number();
      else if (w.accept("key"))
        a.compat_key = CompatKey{w.number()};
      else if (w.accept("timeout"))
        a.queue_timeout = w.duration();
      else if (w.accept("deadline"))
        a.deadline = now_ + w.duration();
      else if (w.accept("deadline_at"))
        a.deadline = Instant{w.duration()};
      else
        w.fail("unknown word: " + std::string(w.word()));
    }
    if (w.error().empty()) step(now_, a);
  }

  void step(Instant at, const Event& event) {
    now_ = at;
    actions_.clear();
    scheduler_.step(at, event, actions_);
    for (const auto& answer : actions_.answers) print(answer);
    for (const auto& dispatch : actions_.dispatches) print(dispatch);
    if (const auto wake = scheduler_.next_wake(); wake && *wake <= at) {
      out_ += "a wake that is not ahead\n";
      ticks_ = false;  // else the ticks would never end
    }
    if (!restoring_) return;
    auto restored = Scheduler::restore(scheduler_.save());
    if (restored.ok()) {
      scheduler_ = std::move(restored).value();
    } else {
      out_ += "restore: " + restored.error().message + "\n";
    }
  }

  static std::string text(Duration d) { return exact_time(to_ns(d)); }
  void print_time() { out_ += text(now_.time_since_epoch()) + " "; }

  void print(const Dispatch& d) {
    print_time();
    out_ += "dispatch b" + std::to_string(d.batch.value) + " i" + std::to_string(d.instance.value);
    Duration held{};
    std::string holds;
    char separator = ' ';
    for (const auto& member : actions_.members_of(d)) {
      out_ += separator + ("r" + std::to_string(member.id.value));
      holds += separator + text(member.hold);
      held += member.hold;
      separator = ',';
    }
    out_ += " rows " + std::to_string(d.rows) + " " + std::string(dispatch_reason_name(d.reason));
    if (held > Duration{}) out_ += " hold" + holds;
    out_ += "\n";
  }

  void print(const Answer& a) {
    print_time();
    out_ += std::string(answer_kind_name(a.kind)) + " r" + std::to_string(a.id.value);
    out_ += " waited " + text(a.waited);
    if (a.hold > Duration{}) out_ += " hold " + text(a.hold);
    if (a.limit) out_ += " limit " + text(*a.limit);
    if (a.depth_limit) out_ += " depth " + std::to_string(*a.depth_limit);
    if (a.retry_after) out_ += " retry " + text(*a.retry_after);
    out_ += "\n";
  }

  void print_state() {
    print_time();
    out_ += "state open " + std::to_string(scheduler_.open_requests());
    for (const auto& [name, id] : models_) {
      out_ += " " + name + " " + std::to_string(scheduler_.queue_depth(id));
    }
    const auto wake = scheduler_.next_wake();
    out_ += wake ? " wake " + text(wake->time_since_epoch()) + "\n" : " no wake\n";
  }

  Scheduler scheduler_;
  Actions actions_;
  std::map<std::string, ModelId> models_;
  std::map<std::string, ModelSettings> settings_;
  Instant now_{};
  bool ticks_ = true;
  bool restoring_;
  std::string out_;
};

}  // namespace

ScenarioResult run_scenario(std::string_view text, bool restoring) {
  return Runner(restoring).run(text);
}

std::string exact_time(std::int64_t ns) {
  if (ns % 1'000'000 == 0) return std::to_string(ns / 1'000'000) + "ms";
  if (ns % 1'000 == 0) return std::to_string(ns / 1'000) + "us";
  return std::to_string(ns) + "ns";
}

}  // namespace tauto::sched
