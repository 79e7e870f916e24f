// The state as bytes: magic, version, then models with their instances and open requests, then a
// checksum. Requests are written list by list, in list order, so that neither slot numbers nor
// capacities show. What can be derived (counts, links, maps, heaps) is not written.

#include <algorithm>
#include <utility>

#include "sched/state.h"

namespace tauto::sched {
namespace {

constexpr std::uint32_t kMagic = 0x48435354;  // "TSCH"
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kChecksumBytes = 8;
constexpr std::uint64_t kIdMax = std::uint64_t{1} << 62;  // leaves room to count on
constexpr std::size_t kLevelsMax = 1u << 18;  // of all models: few bytes must not take much memory
constexpr Duration kServiceTimeMax{std::int64_t{1} << 42};  // l(b) of 73 min and more is damage

/// FNV-1a: against damage, not against malice (restore() trusts nothing it covers).
std::uint64_t checksum(std::string_view bytes) {
  std::uint64_t h = 0xcbf29ce484222325u;
  for (const char c : bytes) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return h;
}

void save_policy(ByteWriter& out, const QueuePolicy& policy) {
  out.u8(static_cast<std::uint8_t>(policy.timeout_action));
  out.maybe(policy.timeout_default);
  out.flag(policy.timeout_override);
  out.maybe(policy.queue_depth_max);
}

QueuePolicy restore_policy(ByteReader& in) {
  QueuePolicy policy;
  policy.timeout_action = in.enumerator(TimeoutAction::kDelay);
  policy.timeout_default = in.maybe_length();
  policy.timeout_override = in.flag();
  policy.queue_depth_max = in.maybe_u32();
  return policy;
}

void save_settings(ByteWriter& out, const ModelSettings& s) {
  out.u8(static_cast<std::uint8_t>(s.policy));
  out.u32(s.rows_max);
  out.u32(s.rows_fixed);
  out.count(s.rows_preferred.size());
  for (const std::uint32_t rows : s.rows_preferred) out.u32(rows);
  out.duration(s.hold_max);
  out.flag(s.preserve_ordering);
  out.u32(s.priority_levels);
  out.u32(s.priority_default);
  save_policy(out, s.queue_default);
  out.count(s.queue_by_priority.size());
  for (const auto& [priority, policy] : s.queue_by_priority) {
    out.u32(priority);
    save_policy(out, policy);
  }
  out.u32(s.queue_depth_max);
  out.flag(s.late_is_error);
}

ModelSettings restore_settings(ByteReader& in) {
  ModelSettings s;
  s.policy = in.enumerator(PolicyKind::kTriton);
  s.rows_max = in.u32();
  s.rows_fixed = in.u32();
  s.rows_preferred.resize(in.count(4));
  for (std::uint32_t& rows : s.rows_preferred) rows = in.u32();
  s.hold_max = in.length();
  s.preserve_ordering = in.flag();
  s.priority_levels = in.u32();
  s.priority_default = in.u32();
  s.queue_default = restore_policy(in);
  s.queue_by_priority.resize(in.count(20));
  for (auto& [priority, policy] : s.queue_by_priority) {
    priority = in.u32();
    policy = restore_policy(in);
  }
  s.queue_depth_max = in.u32();
  s.late_is_error = in.flag();
  in.require(valid_settings(s));
  return s;
}

void save_service_time(ByteWriter& out, const ServiceTime& time) {
  const bool linear = time.measured(0);  // a table never holds zero rows
  out.flag(linear);
  if (linear) {
    out.duration(time.mean(1));
    out.duration(time.mean(2));
    return;
  }
  out.count(time.points().size());
  for (const ServicePoint& p : time.points()) {
    out.u32(p.rows);
    out.duration(p.mean);
    out.duration(p.high);
  }
}

ServiceTime restore_service_time(ByteReader& in) {
  ServiceTime time;
  const auto value = [&in] {
    const Duration v = in.length();
    in.require(v <= kServiceTimeMax);
    return in.ok() ? v : Duration{};
  };
  if (in.flag()) {
    const Duration one = value();
    const Duration two = value();
    in.require(one <= two && two - one <= one);
    return ServiceTime::linear(one - (two - one), two - one);
  }
  for (std::size_t left = in.count(20); left > 0 && in.ok(); --left) {
    ServicePoint p{in.u32(), value(), value()};
    in.require(p.rows >= 1);
    if (in.ok()) time.set(p);
  }
  return time;
}

void save_request(ByteWriter& out, const Request& r) {
  out.u64(r.id.value);
  out.u64(r.seq);
  out.u64(r.compat_key.value);
  out.u64(r.elements_per_row);
  out.instant(r.arrival);
  out.maybe(r.deadline);
  out.maybe(r.queue_timeout);
  out.duration(r.hold);
  out.duration(r.waited);
  out.u32(r.rows);
  out.u32(r.priority);
  out.u32(r.value);
  out.u32(r.accuracy_min_ppm);
  out.u8(static_cast<std::uint8_t>(r.state));
  out.u8(static_cast<std::uint8_t>(r.outcome));
  out.flag(r.ordered);
}
constexpr std::size_t kRequestBytes = 8 * 5 + 9 * 2 + 8 * 2 + 4 * 4 + 3;

Request restore_request(ByteReader& in) {
  Request r;
  r.id = RequestId{in.u64()};
  r.seq = in.u64();
  r.compat_key = CompatKey{in.u64()};
  r.elements_per_row = in.u64();
  r.arrival = in.instant();
  r.deadline = in.maybe_instant();
  r.queue_timeout = in.maybe_length();
  r.hold = in.length();
  r.waited = in.length();
  r.rows = in.u32();
  r.priority = in.u32();
  r.value = in.u32();
  r.accuracy_min_ppm = in.u32();
  r.state = in.enumerator(RequestState::kHeld);
  r.outcome = in.enumerator(AnswerKind::kFailed);
  r.ordered = in.flag();
  in.require(r.rows >= 1);
  return r;
}

}  // namespace

void HoldClock::save(ByteWriter& out) const {
  out.duration(total_);
  out.instant(since_);
  out.flag(running_);
}

void HoldClock::restore(ByteReader& in, Instant now) {
  total_ = in.length();
  since_ = in.instant();
  running_ = in.flag();
  in.require(since_ <= now);
}

void Scheduler::State::save(std::string& bytes) const {
  ByteWriter out(bytes);
  out.instant(now);
  out.u64(seq_next);
  out.u64(batch_next);
  out.count(models.size());
  for (std::uint32_t index = 0; index < models.size(); ++index) save_model(out, index);
}

void Scheduler::State::save_model(ByteWriter& out, std::uint32_t index) const {
  const Model& model = models[index];
  out.u32(model.id.value);
  save_settings(out, model.settings);
  save_service_time(out, model.service_time);
  model.hold.save(out);
  out.flag(model.retired);
  out.maybe(model_times.at(index));
  out.count(model.queue.size());
  for (Slot slot = model.queue.first(); slot != kNoSlot; slot = model.queue.after(requests, slot)) {
    save_request(out, requests[slot]);
  }
  model.policy->save(out);
  out.count(model.instances.size());
  for (const std::uint32_t at : model.instances) {
    const Instance& instance = instances[at];
    out.u32(instance.id.value);
    out.flag(instance.draining);
    out.flag(instance.busy);
    if (!instance.busy) continue;
    out.u64(instance.batch.value);
    out.count(instance.members.count);
    for (Slot s = instance.members.head; s != kNoSlot; s = requests[s].place.next) {
      save_request(out, requests[s]);
    }
  }
  std::vector<Slot> held;
  for (std::uint32_t level = 0; level < model.queue.level_count(); ++level) {
    for (Slot s = model.queue.level(level).order.head; s != kNoSlot; s = requests[s].order.next) {
      if (requests[s].state == RequestState::kHeld) held.push_back(s);
    }
  }
  out.count(held.size());
  for (const Slot slot : held) save_request(out, requests[slot]);
}

void Scheduler::State::restore(ByteReader& in) {
  now = in.instant();
  seq_next = in.u64();
  batch_next = in.u64();
  in.require(seq_next <= kIdMax && batch_next <= kIdMax);
  std::size_t levels = 0;
  for (std::size_t left = in.count(100); left > 0 && in.ok(); --left) {
    restore_model(in, levels);
  }
  if (!in.ok()) return;
  // Answer order is arrival order; seq is unique.
  std::vector<Slot> all(requests.slot_count());
  for (Slot slot = 0; slot < all.size(); ++slot) all[slot] = slot;
  std::sort(all.begin(), all.end(),
            [this](Slot a, Slot b) { return requests[a].seq < requests[b].seq; });
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Request& r = requests[all[i]];
    in.require(r.seq < seq_next && (i == 0 || requests[all[i - 1]].seq < r.seq));
    if (r.ordered) {
      auto& order = models[r.model].queue.level(r.level).order;
      requests.push_back(order, all[i], &Request::order);
    }
    set_time(all[i]);
  }
}

void Scheduler::State::restore_model(ByteReader& in, std::size_t& levels) {
  const auto index = static_cast<std::uint32_t>(models.size());
  Model& model = models.emplace_back();
  model.id = ModelId{in.u32()};
  in.require(model_index.find(model.id.value) == IdMap::kAbsent);
  model.settings = restore_settings(in);
  levels += model.settings.priority_levels;
  in.require(levels <= kLevelsMax);
  if (!in.ok()) return;
  model_index.insert(model.id.value, index);
  model.queue.configure(model.settings);
  model.policy = make_policy(model.settings.policy);
  model.service_time = restore_service_time(in);
  model.hold.restore(in, now);
  model.retired = in.flag();
  if (const auto wake = in.maybe_instant()) model_times.set(index, *wake, index);
  for (std::size_t left = in.count(kRequestBytes); left > 0 && in.ok(); --left) {
    const Slot slot = restore_open(in, index);
    if (!in.ok()) return;
    const Request& r = requests[slot];
    const auto& level = model.queue.level(r.level);
    in.require(r.waiting() && r.rows <= model.settings.rows_max);
    in.require(has_timeout(level.policy) || (r.state == RequestState::kFresh && !r.queue_timeout));
    if (!in.ok()) return;
    const Slot before = level.fresh.tail;
    in.require(r.state == RequestState::kDelayed || before == kNoSlot ||
               requests[before].seq < r.seq);
    model.queue.push(requests, slot);
  }
  model.policy->restore(in, {model.settings, model.queue, requests, now, false});
  for (std::size_t left = in.count(6); left > 0 && in.ok(); --left) restore_instance(in, index);
  for (std::size_t left = in.count(kRequestBytes); left > 0 && in.ok(); --left) {
    const Slot slot = restore_open(in, index);
    in.require(in.ok() && requests[slot].state == RequestState::kHeld && requests[slot].ordered);
  }
}

void Scheduler::State::restore_instance(ByteReader& in, std::uint32_t model) {
  Instance instance;
  instance.id = InstanceId{in.u32()};
  instance.model = model;
  instance.present = true;
  instance.draining = in.flag();
  instance.busy = in.flag();
  if (instance.busy) instance.batch = BatchId{in.u64()};
  in.require(instance_index.find(instance.id.value) == IdMap::kAbsent);
  in.require(!instance.busy || (instance.batch.value < batch_next &&
                                batch_index.find(instance.batch.value) == IdMap::kAbsent));
  if (!in.ok()) return;
  add_instance(instance);
  const std::uint32_t at = instance_index.find(instance.id.value);
  if (!instance.busy) return;
  batch_index.insert(instance.batch.value, at);
  for (std::size_t left = in.count(kRequestBytes); left > 0 && in.ok(); --left) {
    const Slot slot = restore_open(in, model);
    in.require(in.ok() && requests[slot].state == RequestState::kRunning);
    if (!in.ok()) return;
    requests[slot].instance = at;
    requests.push_back(instances[at].members, slot, &Request::place);
  }
}

/// An open request, in no list yet. A slot that must not be used when the reader has failed.
Slot Scheduler::State::restore_open(ByteReader& in, std::uint32_t model) {
  Request r = restore_request(in);
  in.require(requests.find(r.id) == kNoSlot && r.arrival <= now);
  in.require(!r.waiting() || r.hold <= models[model].hold.at(now));
  if (!in.ok()) return kNoSlot;
  const Slot slot = requests.add(r.id);
  r.model = model;
  r.level = models[model].queue.level_of(r.priority);
  requests[slot] = r;
  return slot;
}

std::string Scheduler::save() const {
  std::string bytes;
  ByteWriter out(bytes);
  out.u32(kMagic);
  out.u32(kVersion);
  state_->save(bytes);
  out.u64(checksum(bytes));
  return bytes;
}

Result<Scheduler> Scheduler::restore(std::string_view bytes) {
  ByteReader head(bytes.substr(0, std::min<std::size_t>(bytes.size(), 8)));
  const std::uint32_t magic = head.u32();
  const std::uint32_t version = head.u32();
  if (!head.ok() || magic != kMagic || bytes.size() < 8 + kChecksumBytes) {
    return Error{Code::kInvalidArgument, "not a scheduler snapshot"};
  }
  if (version != kVersion) {
    return Error{Code::kInvalidArgument, "scheduler snapshot of version " +
                                             std::to_string(version) + ", not " +
                                             std::to_string(kVersion)};
  }
  Scheduler scheduler;
  State& state = *scheduler.state_;
  ByteReader in(bytes.substr(8, bytes.size() - 8 - kChecksumBytes));
  state.restore(in);
  for (const std::uint32_t model : state.touched) state.models[model].touched = false;
  state.touched.clear();
  // One state has one spelling: writing it again must give the same bytes, the checksum included.
  if (!in.ok() || !in.at_end() || scheduler.save() != bytes) {
    return Error{Code::kInvalidArgument, "damaged scheduler snapshot"};
  }
  return scheduler;
}

}  // namespace tauto::sched
