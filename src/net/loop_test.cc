#include "net/loop.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "net/body_pool.h"
#include "net/http_text.h"
#include "net/monotonic.h"

namespace tauto::net {
namespace {

using namespace std::chrono_literals;

/// A clock that stands still until it is moved.
class ManualTime : public TimeSource {
 public:
  Instant now() const override { return at; }
  Instant at = instant_at_ns(1'000'000'000);
};

TEST(LoopTest, RunsPostedMessagesInOrderOnItsThread) {
  MonotonicTime time;
  Loop loop(time);
  std::vector<int> seen;
  bool inside = true;
  std::thread other([&] {
    for (int i = 0; i < 1000; ++i) {
      loop.post([&, i] {
        seen.push_back(i);
        inside = inside && loop.in_loop_thread();
      });
    }
    loop.post([&] { loop.stop(); });
  });
  loop.run();
  other.join();
  ASSERT_EQ(seen.size(), 1000u);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(seen[static_cast<std::size_t>(i)], i);
  EXPECT_TRUE(inside);
  EXPECT_FALSE(loop.in_loop_thread());
}

TEST(LoopTest, StopBeforeRunIsNotLost) {
  MonotonicTime time;
  Loop loop(time);
  loop.stop();
  loop.run();
  loop.post([&] { loop.stop(); });
  loop.run();  // and it can run again
}

class LoopDrainTest : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(RunAndRunReady, LoopDrainTest, ::testing::Bool());

TEST_P(LoopDrainTest, DrainedFunctionsRunAfterEverythingThatIsReady) {
  MonotonicTime time;
  Loop loop(time);
  std::string order;
  loop.post([&] {
    loop.after_drain([](void* s) { *static_cast<std::string*>(s) += 'D'; }, &order);
    order += 'a';
    loop.post([&] {
      order += 'b';
      loop.post([&] { order += 'c'; });
    });
  });
  loop.post([&] { order += 'x'; });
  if (GetParam()) {
    loop.run_ready();
  } else {
    loop.post([&] { loop.after_drain([](void* l) { static_cast<Loop*>(l)->stop(); }, &loop); });
    loop.run();
  }
  EXPECT_EQ(order, "axbcD");
}

TEST(LoopTest, AppointmentsRunInTheOrderOfTheirTimes) {
  MonotonicTime time;
  Loop loop(time);
  std::string order;
  const Instant now = time.now();
  loop.call_at(now + 3ms, [&] {
    order += 'c';
    loop.stop();
  });
  loop.call_at(now + 1ms, [&] { order += 'a'; });
  loop.call_at(now + 2ms, [&] { order += 'b'; });
  loop.call_at(now - 1s, [&] { order += '0'; });
  loop.run();
  EXPECT_EQ(order, "0abc");
  EXPECT_GE(time.now(), now + 3ms);
}

struct Fired {
  int count = 0;
  Loop* loop = nullptr;
  static void fire(void* self) {
    ++static_cast<Fired*>(self)->count;
    if (auto* loop = static_cast<Fired*>(self)->loop) loop->stop();
  }
};

TEST(LoopTest, ATimerFiresOnceAndMayMove) {
  MonotonicTime time;
  Loop loop(time);
  Fired early;
  Fired moved{.loop = &loop};
  Timer disarmed(loop, &Fired::fire, &early);
  Timer timer(loop, &Fired::fire, &moved);
  disarmed.arm(time.now() + 1ms);
  disarmed.disarm();
  const Instant start = time.now();
  timer.arm(start + 1h);
  timer.arm(start + 1ms);  // earlier
  timer.arm(start + 5ms);  // later
  loop.run();
  EXPECT_GE(time.now(), start + 5ms);
  EXPECT_EQ(moved.count, 1);
  EXPECT_EQ(early.count, 0);
  timer.arm(time.now());
  loop.run();
  EXPECT_EQ(moved.count, 2);
}

TEST(LoopTest, ATimerFollowsTheLoopsClock) {
  ManualTime time;
  Loop loop(time);
  Fired fired{.loop = &loop};
  Timer timer(loop, &Fired::fire, &fired);
  timer.arm(time.now() + 1ms);
  // The kernel's millisecond passes while our clock stands: the timer must wait for ours.
  MonotonicTime real;
  const Instant end = real.now() + 5ms;
  while (real.now() < end) loop.run_ready();
  EXPECT_EQ(fired.count, 0);
  time.at += 1ms;
  loop.run();
  EXPECT_EQ(fired.count, 1);
}

TEST(LoopTest, ATimerMayGoBeforeItFires) {
  MonotonicTime time;
  Loop loop(time);
  Fired fired;
  {
    Timer timer(loop, &Fired::fire, &fired);
    timer.arm(time.now());
  }
  loop.run_ready();
  EXPECT_EQ(fired.count, 0);
}

TEST(BodyPoolTest, AlignsWhatItIsAskedToAlign) {
  BodyPool pool;
  for (const std::size_t start : {std::size_t{0}, std::size_t{1}, std::size_t{63}}) {
    BodyHandle body = pool.take(100, start);
    const std::string text(5000, 'x');
    BodyWriter::append(body, std::as_bytes(std::span(text.data(), text.size())));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(body.bytes().data()) % 64, start);
    EXPECT_EQ(body.bytes().size(), 5000u);
  }
}

TEST(BodyPoolTest, GrowsWithWhatArrivesAndKeepsTheBytes) {
  BodyPool pool;
  BodyHandle body = pool.take(4096, 7);
  std::size_t written = 0;
  while (written < 5'000'000) {
    const std::span<std::byte> room = BodyWriter::space(body, 1'000'000'000);
    ASSERT_FALSE(room.empty());
    ASSERT_LE(written + room.size(), std::max(written * 4, std::size_t{4} << 20));
    for (std::byte& b : room) b = static_cast<std::byte>(written++ * 31 >> 3);
    BodyWriter::commit(body, room.size());
  }
  const std::span<const std::byte> bytes = body.bytes();
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    wrong += bytes[i] != static_cast<std::byte>(i * 31 >> 3);
  EXPECT_EQ(wrong, 0u);
}

TEST(BodyPoolTest, ReusesBlocksWithinItsBudget) {
  BodyPool pool(std::size_t{1} << 20);
  const std::byte* first = nullptr;
  {
    BodyHandle body = pool.take(100'000);
    first = body.bytes().data();
  }
  EXPECT_EQ(pool.kept_bytes(), 131'072u);
  EXPECT_EQ(pool.take(120'000).bytes().data(), first);
  std::vector<BodyHandle> many;
  for (int i = 0; i < 40; ++i) many.push_back(pool.take(100'000));
  many.push_back(pool.take(std::size_t{64} << 20));
  many.clear();
  EXPECT_EQ(pool.kept_bytes(), std::size_t{1} << 20);
}

TEST(HttpTextTest, ComparesNamesWithoutCaseOnly) {
  EXPECT_TRUE(same_name("Content-Length", "content-LENGTH"));
  EXPECT_FALSE(same_name("Content-Length", "content_length"));
  EXPECT_FALSE(same_name("a", "ab"));
  EXPECT_FALSE(same_name("@", "`"));  // differ by the same bit as letters do
  EXPECT_FALSE(same_name("[", "{"));
  EXPECT_TRUE(same_name("", ""));
}

TEST(HttpTextTest, ReadsDecimals) {
  EXPECT_EQ(parse_decimal("0"), 0u);
  EXPECT_EQ(parse_decimal("18446744073709551615"), ~std::uint64_t{0});
  for (const char* bad : {"", "-1", "+1", " 1", "1 ", "0x1", "18446744073709551616"}) {
    EXPECT_EQ(parse_decimal(bad), std::nullopt) << bad;
  }
}

}  // namespace
}  // namespace tauto::net
