#include "lab/load_generator.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <map>

#include "core/arrivals.h"
#include "lab/scripted_server.h"
#include "net/monotonic.h"

namespace tauto::lab {
namespace {

using namespace std::chrono_literals;

RequestSet one_request() {
  RequestSet set;
  set.add("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  return set;
}

LoadPlan open_loop(std::uint64_t per_second, Duration length) {
  LoadPlan plan;
  plan.arrivals = make_arrivals({ArrivalKind::kConstant, per_second * 1000, length, 1});
  plan.length = length;
  plan.timeout = 60s;
  plan.connections_max = 256;
  return plan;
}

LoadPlan closed_loop(std::uint32_t concurrency, Duration length) {
  LoadPlan plan;
  plan.concurrency = concurrency;
  plan.length = length;
  plan.timeout = 60s;
  return plan;
}

LoadLog run(const LoadPlan& plan, const ScriptedServer& server, RequestSet requests) {
  const net::MonotonicTime time;
  const auto endpoint = net::resolve_endpoint("127.0.0.1", server.port()).value();
  return generate_load(plan, endpoint, requests, time, {}).value();
}
LoadLog run(const LoadPlan& plan, const ScriptedServer& server) {
  return run(plan, server, one_request());
}

std::map<Outcome, std::size_t> outcomes(const LoadLog& log) {
  std::map<Outcome, std::size_t> counts;
  for (std::size_t i = 0; i < log.samples.size(); ++i) ++counts[log.samples[i].outcome];
  return counts;
}

std::size_t count_flag(const LoadLog& log, std::uint8_t flag) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < log.samples.size(); ++i) count += log.samples[i].has(flag) ? 1 : 0;
  return count;
}

Act answer(const SeenRequest&) { return Act::reply(200, "ok"); }

TEST(LoadGenerator, SendsEachRequestOfTheScheduleOnceAndNeverEarly) {
  ScriptedServer server(answer);
  const auto plan = open_loop(400, 500ms);
  const auto log = run(plan, server);
  ASSERT_EQ(log.samples.size(), plan.arrivals.size());
  EXPECT_EQ(server.seen().size(), plan.arrivals.size());
  std::vector<std::int64_t> intended;
  for (std::size_t i = 0; i < log.samples.size(); ++i) {
    const auto& s = log.samples[i];
    EXPECT_EQ(s.outcome, Outcome::kOk);
    EXPECT_EQ(s.status, 200);
    EXPECT_GE(s.sent_ns, s.intended_ns);
    EXPECT_GE(s.done_ns, s.sent_ns);
    intended.push_back(s.intended_ns);
  }
  std::sort(intended.begin(), intended.end());
  for (std::size_t i = 0; i < intended.size(); ++i) EXPECT_EQ(intended[i], to_ns(plan.arrivals[i]));
}

TEST(LoadGenerator, SpinningChangesNothingButThePrecision) {
  ScriptedServer server(answer);
  auto plan = open_loop(300, 200ms);
  plan.spin = true;
  const auto log = run(plan, server);
  EXPECT_EQ(outcomes(log)[Outcome::kOk], plan.arrivals.size());
  for (std::size_t i = 0; i < log.samples.size(); ++i) EXPECT_GE(log.samples[i].lag_ns(), 0);
}

/// Answers at once, until a certain request comes: from then on nothing leaves for 200 ms, as when
/// a server pauses.
class Stall {
 public:
  Act operator()(const SeenRequest& request) {
    if (request.number == 20) begin_ns_ = to_ns(request.at);
    if (request.number < 20 || request.at >= end()) return Act::reply(200, "ok");
    return Act::reply_after(end() - request.at, "ok");
  }
  Instant begin() const { return instant_at_ns(begin_ns_); }
  Instant end() const { return begin() + 200ms; }

 private:
  std::atomic<std::int64_t> begin_ns_{0};  // set by the server's thread
};

/// How many requests were meant to start in the stall, and checks that each waited for its end.
std::size_t check_stalled(const LoadLog& log, const Stall& stall) {
  std::size_t stalled = 0;
  for (std::size_t i = 0; i < log.samples.size(); ++i) {
    const auto& s = log.samples[i];
    const auto intended = log.started + Duration{s.intended_ns};
    if (intended < stall.begin() || intended >= stall.end()) continue;
    ++stalled;
    EXPECT_GE(log.started + Duration{s.done_ns}, stall.end());
  }
  return stalled;
}

std::size_t planned_in(const LoadPlan& plan, const LoadLog& log, const Stall& stall) {
  return static_cast<std::size_t>(
      std::count_if(plan.arrivals.begin(), plan.arrivals.end(), [&](Duration arrival) {
        return log.started + arrival >= stall.begin() && log.started + arrival < stall.end();
      }));
}

TEST(LoadGenerator, AStallIsInTheLatencyOfAllThatShouldHaveStartedInIt) {
  Stall stall;
  ScriptedServer server([&](const SeenRequest& r) { return stall(r); });
  const auto plan = open_loop(200, 1500ms);
  const auto log = run(plan, server);
  const auto stalled = check_stalled(log, stall);
  EXPECT_EQ(stalled, planned_in(plan, log, stall));
  EXPECT_GE(stalled, 39u);  // 200/s over 200 ms, whatever the machine does meanwhile
  EXPECT_EQ(count_flag(log, Sample::kCapped), 0u);
}

TEST(LoadGenerator, WaitingForABusyConnectionIsLatencyToo) {
  Stall stall;
  ScriptedServer server([&](const SeenRequest& r) { return stall(r); });
  auto plan = open_loop(200, 1500ms);
  plan.connections_max = 1;
  const auto log = run(plan, server);
  EXPECT_EQ(server.connections(), 1u);
  const auto stalled = check_stalled(log, stall);
  EXPECT_EQ(stalled, planned_in(plan, log, stall));
  EXPECT_GE(count_flag(log, Sample::kCapped) + 2, stalled);
}

TEST(LoadGenerator, AClosedLoopSeesTheSameStallOnceForEachSlot) {
  Stall stall;
  ScriptedServer server([&](const SeenRequest& r) { return stall(r); });
  const auto log = run(closed_loop(1, 500ms), server);
  EXPECT_LE(check_stalled(log, stall), 1u);
}

TEST(LoadGenerator, KeepsExactlySoManyUnderWay) {
  for (const std::uint32_t n : {1u, 5u, 32u}) {
    ScriptedServer server([](const SeenRequest&) { return Act::reply_after(60ms, "ok"); });
    const auto log = run(closed_loop(n, 200ms), server);
    EXPECT_EQ(server.unanswered_peak(), n);
    EXPECT_EQ(server.connections(), n);
    EXPECT_EQ(log.under_way_peak, n);
    EXPECT_EQ(log.connections_opened, n);
    EXPECT_EQ(outcomes(log)[Outcome::kOk], log.samples.size());
    EXPECT_EQ(log.samples.size(), server.seen().size());
  }
}

TEST(LoadGenerator, ClassifiesWhatGoesWrong) {
  ScriptedServer server([](const SeenRequest& r) {
    switch (r.number % 7) {
      case 0:
        return Act::reply(429, "later", "Retry-After: 1\r\n");
      case 1:
        return Act::reply(503, "no");
      case 2:
        return Act::reply(504, "late");
      case 3:
        return Act{{{"nonsense\r\n\r\n", {}}}, true, false};
      case 4:
        return Act{{{"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab", {}}}, true, false};
      case 5:
        return Act{{{"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab", {}}}, false, true};
      default:
        return Act::reply(200, "ok");
    }
  });
  auto plan = open_loop(700, 200ms);
  const auto log = run(plan, server);
  std::map<int, std::size_t> statuses;
  for (std::size_t i = 0; i < log.samples.size(); ++i) ++statuses[log.samples[i].status];
  EXPECT_EQ(log.samples.size(), 140u);
  EXPECT_EQ(outcomes(log), (std::map<Outcome, std::size_t>{{Outcome::kOk, 20},
                                                           {Outcome::kStatus, 60},
                                                           {Outcome::kClosed, 40},
                                                           {Outcome::kMalformed, 20}}));
  EXPECT_EQ(statuses,
            (std::map<int, std::size_t>{{0, 60}, {200, 20}, {429, 20}, {503, 20}, {504, 20}}));
}

TEST(LoadGenerator, GivesUpAtTheTimeoutCountedFromTheIntendedStart) {
  ScriptedServer server([](const SeenRequest&) { return Act::never(); });
  auto plan = open_loop(1, 50ms);
  plan.arrivals = {0ms, 0ms, 0ms, 20ms, 20ms};
  plan.timeout = 40ms;
  plan.connections_max = 2;
  const auto log = run(plan, server);
  EXPECT_EQ(outcomes(log), (std::map<Outcome, std::size_t>{{Outcome::kTimeout, 5}}));
  const auto unsent = count_flag(log, Sample::kUnsent);
  EXPECT_GE(unsent, 1u);  // at least the third of the first moment
  EXPECT_EQ(server.wait_for_requests(5 - unsent), 5 - unsent);
  for (std::size_t i = 0; i < log.samples.size(); ++i) {
    EXPECT_GE(log.samples[i].latency_ns(), to_ns(plan.timeout));
  }
}

TEST(LoadGenerator, MakesANewConnectionWhereTheServerClosesEach) {
  ScriptedServer server([](const SeenRequest&) {
    auto act = Act::reply(200, "ok", "Connection: close\r\n");
    act.close = true;
    return act;
  });
  const auto log = run(closed_loop(2, 100ms), server);
  EXPECT_EQ(outcomes(log)[Outcome::kOk], log.samples.size());
  EXPECT_EQ(server.connections(), server.seen().size());
  EXPECT_EQ(count_flag(log, Sample::kResent), 0u);
}

TEST(LoadGenerator, SendsOnceMoreWhenAnIdleConnectionWasGone) {
  ScriptedServer server([](const SeenRequest& r) {
    return r.on_connection == 0 ? Act::reply(200, "ok") : Act::hang_up();
  });
  auto plan = open_loop(200, 100ms);
  plan.connections_max = 1;
  const auto log = run(plan, server);
  EXPECT_EQ(outcomes(log)[Outcome::kOk], 20u);
  EXPECT_EQ(count_flag(log, Sample::kResent) + 20u, server.seen().size());
  EXPECT_GT(count_flag(log, Sample::kResent), 0u);
}

TEST(LoadGenerator, NeverSendsAThirdTimeNorAfterAByteOfTheReply) {
  ScriptedServer server([](const SeenRequest& r) {
    if (r.number == 0) return Act::reply(200, "ok");
    return r.number % 2 == 0 ? Act::hang_up() : Act{{{"HTTP/1.1 2", {}}}, true, false};
  });
  auto plan = open_loop(100, 100ms);
  plan.connections_early = 1;
  const auto log = run(plan, server);
  EXPECT_EQ(outcomes(log)[Outcome::kOk], 1u);
  EXPECT_EQ(outcomes(log)[Outcome::kClosed], 9u);
  EXPECT_EQ(server.seen().size(), 10u + count_flag(log, Sample::kResent));
}

TEST(LoadGenerator, ReplaysBodiesInOrderAndAround) {
  RequestSet set;
  for (const std::string body : {"1", "22", "333"}) {
    set.add("POST / HTTP/1.1\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
            body);
  }
  ScriptedServer server(answer);
  auto plan = open_loop(100, 100ms);
  plan.connections_max = 1;  // or two of them could overtake each other on their way
  const auto log = run(plan, server, std::move(set));
  const auto seen = server.seen();
  ASSERT_EQ(seen.size(), 10u);
  std::vector<std::size_t> lengths;
  for (const auto& request : seen) lengths.push_back(request.body.size());
  EXPECT_EQ(lengths, (std::vector<std::size_t>{1, 2, 3, 1, 2, 3, 1, 2, 3, 1}));
}

TEST(LoadGenerator, StopsWhenToldAndWaitsForTheRest) {
  const int stop = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  ScriptedServer server([stop](const SeenRequest& r) {
    const std::uint64_t one = 1;
    if (r.number == 9) {
      EXPECT_EQ(::write(stop, &one, sizeof one), 8);
    }
    return Act::reply_after(20ms, "ok");
  });
  auto plan = open_loop(200, 60s);
  plan.stop_fd = stop;
  const auto log = run(plan, server);
  EXPECT_TRUE(log.interrupted);
  EXPECT_GE(log.samples.size(), 10u);
  EXPECT_EQ(log.samples.size(), server.seen().size());
  EXPECT_EQ(outcomes(log)[Outcome::kOk], log.samples.size());
  EXPECT_LT(log.length, plan.length);
  for (std::size_t i = 0; i < log.samples.size(); ++i) {
    EXPECT_LE(log.samples[i].intended_ns, to_ns(log.length));
  }
  ::close(stop);
}

TEST(LoadGenerator, DropsTheRestWhenToldTwice) {
  const int stop = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE);
  ScriptedServer server([stop](const SeenRequest& r) {
    const std::uint64_t two = 2;
    if (r.number == 4) {
      EXPECT_EQ(::write(stop, &two, sizeof two), 8);
    }
    return Act::never();
  });
  auto plan = closed_loop(5, 60s);
  plan.stop_fd = stop;
  const auto log = run(plan, server);
  EXPECT_TRUE(log.interrupted);
  EXPECT_EQ(outcomes(log), (std::map<Outcome, std::size_t>{{Outcome::kAborted, 5}}));
  ::close(stop);
}

TEST(LoadGenerator, CannotStartWhereNobodyListens) {
  std::uint16_t port = 0;
  {
    ScriptedServer server(answer);
    port = server.port();
  }
  auto requests = one_request();
  const net::MonotonicTime time;
  const auto endpoint = net::resolve_endpoint("127.0.0.1", port).value();
  const auto result = generate_load(closed_loop(1, 1s), endpoint, requests, time, {});
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().message.find("nobody listens"), std::string::npos);
}

TEST(LoadGenerator, KeepsTheServersStages) {
  ScriptedServer server([](const SeenRequest&) {
    return Act::reply(200, "ok", "Server-Timing: wait;dur=1.5, compute;dur=2, total;dur=4\r\n");
  });
  auto plan = open_loop(100, 50ms);
  plan.keep_stages = true;
  const auto log = run(plan, server);
  ASSERT_EQ(log.stages.rows().size(), 5u);
  const auto& row = log.stages.rows()[log.samples[0].stages];
  EXPECT_FLOAT_EQ(row[static_cast<std::size_t>(journey::Stage::kWait)], 1.5f);
  EXPECT_FLOAT_EQ(row[StageLog::kTotalColumn], 4.0f);
}

}  // namespace
}  // namespace tauto::lab
