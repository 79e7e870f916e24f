// Many connections on several loops, and the promise that a warm request allocates nothing.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "net/http_server.h"
#include "net/raw_client_test.h"

namespace {
std::atomic<std::thread::id> watched{};
std::atomic<long> allocations{0};

void* counted(std::size_t bytes) {
  if (watched.load(std::memory_order_relaxed) == std::this_thread::get_id()) ++allocations;
  void* const memory = std::malloc(bytes);
  if (memory == nullptr) std::abort();
  return memory;
}
}  // namespace

void* operator new(std::size_t bytes) { return counted(bytes); }
void* operator new[](std::size_t bytes) { return counted(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace tauto::net {
namespace {

/// Echoes: at once, after the drain, or from another thread.
class EchoHandler : public HttpHandler {
 public:
  void on_request(HttpExchange& exchange) override {
    exchange.extra_headers() = "Server-Timing: total;dur=1\r\n";
    if (exchange.path() == "/drain") {
      exchange.loop().after_drain(&EchoHandler::echo, &exchange);
    } else if (exchange.path() == "/later") {
      exchange.loop().post(&EchoHandler::echo, &exchange);
    } else {
      echo(&exchange);
    }
  }
  static void echo(void* arg) {
    auto& exchange = *static_cast<HttpExchange*>(arg);
    const std::span<const std::byte> body = exchange.body();
    exchange.text().assign(reinterpret_cast<const char*>(body.data()), body.size());
    exchange.reply_text(200, "application/octet-stream", exchange.text());
  }
  void on_sent(HttpExchange&, Instant, bool) override { ++sent; }
  void on_client_gone(HttpExchange&) override {}
  std::atomic<int> sent{0};
};

std::string request_for(std::string_view path, std::size_t bytes) {
  return "POST " + std::string(path) + " HTTP/1.1\r\nHost: h\r\nAccept: */*\r\n" +
         "Inference-Header-Content-Length: 10\r\nContent-Length: " + std::to_string(bytes) +
         "\r\n\r\n" + std::string(bytes, 'x');
}

TEST(HttpLoadTest, AWarmRequestAllocatesNothing) {
  EchoHandler handler;
  HttpServerOptions options;
  options.body_align_header = "Inference-Header-Content-Length";
  RunningServer running(handler, options);
  running.loop().post([&] { watched = std::this_thread::get_id(); });
  RawClient client(running.port());
  for (const std::string_view path : {"/now", "/drain", "/later"}) {
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{300}, std::size_t{600'000}}) {
      const std::string request = request_for(path, bytes);
      long before = 0;
      for (int i = 0; i < 60; ++i) {
        if (i == 20) before = allocations;  // the loop is idle: the last reply has been read
        ASSERT_TRUE(client.send(request));
        ASSERT_EQ(client.read().body.size(), bytes);
      }
      EXPECT_EQ(allocations - before, 0) << path << " " << bytes;
    }
  }
  running.stop();
  watched = std::thread::id{};
}

TEST(HttpLoadTest, ServesManyConnectionsOnSeveralLoops) {
  EchoHandler handler;
  RunningServer running(handler, {}, 2);
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      std::vector<std::unique_ptr<RawClient>> clients;
      for (int i = 0; i < 40; ++i) clients.push_back(std::make_unique<RawClient>(running.port()));
      for (int round = 0; round < 15; ++round) {
        const std::string_view path = round % 3 == 0   ? "/now"
                                      : round % 3 == 1 ? "/drain"
                                                       : "/later";
        const auto bytes = static_cast<std::size_t>(t * 1000 + round * 100);
        for (const auto& client : clients) client->send(request_for(path, bytes));
        for (const auto& client : clients) right += client->read().body == std::string(bytes, 'x');
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 3 * 40 * 15);
  EXPECT_TRUE(wait_until_true([&] { return running.server().open_connections() == 0; }));
  EXPECT_EQ(handler.sent, 3 * 40 * 15);  // each on_sent came before its connection's end
}

}  // namespace
}  // namespace tauto::net
