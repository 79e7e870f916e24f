// What the server refuses, how it says so, and when it closes.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "net/http_server.h"
#include "net/raw_client_test.h"

namespace tauto::net {
namespace {

class CountingHandler : public HttpHandler {
 public:
  void on_request(HttpExchange& exchange) override {
    ++requests;
    if (exchange.path() == "/hold") {
      held = &exchange;
    } else if (exchange.path() == "/big") {
      exchange.reply_text(200, "", big);
    } else {
      exchange.text() = std::to_string(exchange.body().size());
      exchange.reply_text(200, "text/plain", exchange.text());
    }
  }
  void on_sent(HttpExchange&, Instant, bool ok) override { ++(ok ? sent : failed); }
  void on_client_gone(HttpExchange&) override { ++gone; }

  const std::string big = std::string(std::size_t{16} << 20, 'b');
  std::atomic<int> requests{0};
  std::atomic<int> sent{0};
  std::atomic<int> failed{0};
  std::atomic<int> gone{0};
  std::atomic<HttpExchange*> held{nullptr};
};

HttpServerOptions small_limits() {
  HttpServerOptions options;
  options.limits.body_bytes_max = 1000;
  options.limits.header_bytes_max = 1024;
  options.limits.connections_max = 4;
  return options;
}

struct BadRequest {
  const char* why;
  std::string bytes;
  int status;
};

std::vector<BadRequest> bad_requests() {
  const std::string start = "POST /x HTTP/1.1\r\nHost: h\r\n";
  const std::string chunked = start + "Transfer-Encoding: chunked\r\n\r\n";
  return {
      {"no request line", "hello\r\n\r\n", 400},
      {"no version", "GET /\r\n\r\n", 400},
      {"TLS greeting", std::string("\x16\x03\x01\x02", 4), 400},
      {"space before the colon", start + "A : b\r\n\r\n", 400},
      {"no colon", start + "Ab\r\n\r\n", 400},
      {"control character in a value", start + "A: b\x01\r\n\r\n", 400},
      {"NUL in the target", std::string("GET /\0 HTTP/1.1\r\nHost: h\r\n\r\n", 28), 400},
      {"folded field", start + "A: b\r\n c\r\n\r\n", 400},
      {"no Host", "GET / HTTP/1.1\r\n\r\n", 400},
      {"two Hosts", start + "Host: i\r\n\r\n", 400},
      {"HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
      {"length not a number", start + "Content-Length: x\r\n\r\n", 400},
      {"negative length", start + "Content-Length: -1\r\n\r\n", 400},
      {"length too large for 64 bits", start + "Content-Length: 99999999999999999999\r\n\r\n", 400},
      {"two lengths", start + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab", 400},
      {"length and chunks", start + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\na",
       400},
      {"chunks and length", start + "Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\na",
       400},
      {"two encodings", start + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
       400},
      {"encoding in HTTP/1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
      {"unknown encoding", start + "Transfer-Encoding: gzip\r\n\r\n", 501},
      {"stacked encoding", start + "Transfer-Encoding: gzip, chunked\r\n\r\n", 501},
      {"hidden encoding", start + "Transfer-Encoding: xchunked\r\n\r\n", 501},
      {"unknown expectation", start + "Expect: tea\r\nContent-Length: 1\r\n\r\n", 417},
      {"chunk size not hexadecimal", chunked + "xyz\r\n", 400},
      {"chunk longer than announced", chunked + "3\r\nabcd\r\n0\r\n\r\n", 400},
      {"chunks beyond the limit", chunked + "3e9\r\n", 413},
      {"huge chunk", chunked + "ffffffffffffffff\r\n", 413},
      {"endless chunk extension", chunked + "1;" + std::string(60000, 'x'), 431},
      {"body beyond the limit", start + "Content-Length: 1001\r\n\r\n", 413},
      {"head beyond the limit", start + "A: " + std::string(1100, 'x') + "\r\n\r\n", 431},
      {"head without end", start + "A: " + std::string(200000, 'x'), 431},
      {"head beyond the limit with its target",
       "GET /" + std::string(600, 'x') + " HTTP/1.1\r\nHost: h\r\nA: " + std::string(600, 'x') +
           "\r\n\r\n",
       431},
      {"target beyond the limit", "GET /" + std::string(2000, 'x'), 431},
  };
}

TEST(HttpLimitsTest, RefusesBadRequestsWithAReasonAndCloses) {
  CountingHandler handler;
  RunningServer running(handler, small_limits());
  for (const BadRequest& bad : bad_requests()) {
    RawClient client(running.port());
    client.send("POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nab");
    EXPECT_EQ(client.read().body, "2") << bad.why;
    client.send(bad.bytes);
    client.end_sending();
    const RawReply reply = client.read();
    EXPECT_EQ(reply.status, bad.status) << bad.why << ": " << reply.body;
    EXPECT_TRUE(reply.body.starts_with("{\"error\":\"") && reply.body.ends_with("\"}")) << bad.why;
    EXPECT_NE(reply.head.find("Content-Type: application/json\r\n"), std::string::npos);
    EXPECT_NE(reply.head.find("Connection: close\r\n"), std::string::npos) << bad.why;
    EXPECT_TRUE(client.at_end()) << bad.why;
    EXPECT_TRUE(wait_until_true([&] { return running.server().open_connections() == 0; }));
  }
  EXPECT_EQ(handler.requests, static_cast<int>(bad_requests().size()));
}

TEST(HttpLimitsTest, AcceptsWhatIsJustWithinTheLimits) {
  CountingHandler handler;
  RunningServer running(handler, small_limits());
  RawClient client(running.port());
  const std::string body(1000, 'b');
  client.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\n" + body);
  EXPECT_EQ(client.read().body, "1000");
  client.send("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: Chunked\r\n\r\n3e8\r\n" + body +
              "\r\n0\r\n\r\n");
  EXPECT_EQ(client.read().body, "1000");
  client.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nab");
  EXPECT_EQ(client.read().body, "2");  // said twice, but the same
  std::string head = "GET http://other/ HTTP/1.1\r\nHost: h\r\nA: ";
  head += std::string(1024 - 4 - head.size(), 'x') + "\r\n\r\n";
  client.send(head);
  EXPECT_EQ(client.read().status, 200);
}

TEST(HttpLimitsTest, RefusesALargeBodyWhileItIsStillBeingSent) {
  CountingHandler handler;
  RunningServer running(handler, small_limits());
  RawClient client(running.port());
  // More than the sockets hold: without reading on, the server's close would reset the connection.
  EXPECT_TRUE(client.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 8000000\r\n\r\n" +
                          std::string(8000000, 'x')));
  EXPECT_EQ(client.read().status, 413);
  EXPECT_TRUE(client.at_end());
}

TEST(HttpLimitsTest, RefusesAnExpectedBodyBeforeItIsSent) {
  CountingHandler handler;
  RunningServer running(handler, small_limits());
  RawClient client(running.port());
  client.send(
      "POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 8000000\r\n\r\n");
  EXPECT_EQ(client.read().status, 413);
}

TEST(HttpLimitsTest, RefusesConnectionsOverTheLimit) {
  CountingHandler handler;
  RunningServer running(handler, small_limits());
  const std::string request = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 4; ++i) {
    clients.push_back(std::make_unique<RawClient>(running.port()));
    clients.back()->send(request);
    EXPECT_EQ(clients.back()->read().status, 200);
  }
  RawClient extra(running.port());
  const RawReply reply = extra.read();
  EXPECT_EQ(reply.status, 503);
  EXPECT_EQ(reply.body, "{\"error\":\"too many connections\"}");
  EXPECT_TRUE(extra.at_end());
  extra.close();
  clients.pop_back();
  ASSERT_TRUE(wait_until_true([&] { return running.server().open_connections() == 3; }));
  RawClient again(running.port());
  again.send(request);
  EXPECT_EQ(again.read().status, 200);
}

TEST(HttpLimitsTest, GivesUpOnThoseWhoStandStill) {
  CountingHandler handler;
  HttpServerOptions options;
  options.limits.header_wait_max = std::chrono::milliseconds(60);
  options.limits.progress_wait_max = std::chrono::milliseconds(60);
  options.limits.idle_wait_max = std::chrono::milliseconds(60);
  RunningServer running(handler, options);
  RawClient silent(running.port());
  EXPECT_TRUE(silent.at_end());
  for (const std::string_view part :
       {"GET / HTTP/1.1\r\nHost:", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nab",
        "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab"}) {
    RawClient slow(running.port());
    slow.send(part);
    EXPECT_EQ(slow.read().status, 408) << part;
    EXPECT_TRUE(slow.at_end());
  }
  RawClient idle(running.port());
  idle.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_EQ(idle.read().status, 200);
  EXPECT_TRUE(idle.at_end());
  EXPECT_EQ(handler.failed + handler.gone, 0);
  RawClient greedy(running.port(), 4096);  // asks for much and reads nothing
  greedy.send("GET /big HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_TRUE(wait_until_true([&] { return handler.failed == 1; }));
}

TEST(HttpLimitsTest, NeverGivesUpOnARequestThatIsBeingServed) {
  CountingHandler handler;
  HttpServerOptions options;
  options.limits.header_wait_max = std::chrono::milliseconds(20);
  options.limits.progress_wait_max = std::chrono::milliseconds(20);
  options.limits.idle_wait_max = std::chrono::milliseconds(20);
  RunningServer running(handler, options);
  RawClient held(running.port());
  held.send("GET /hold HTTP/1.1\r\nHost: h\r\n\r\n");
  ASSERT_TRUE(wait_until_true([&] { return handler.held != nullptr; }));
  // A second connection that is closed for standing still shows that the sweep has passed.
  RawClient idle(running.port());
  EXPECT_TRUE(idle.at_end());
  running.loop().post([&] { handler.held.load()->reply_text(200, "", "late"); });
  EXPECT_EQ(held.read().body, "late");
}

TEST(HttpLimitsTest, DrainsWithoutLosingARequest) {
  CountingHandler handler;
  RunningServer running(handler, {}, 2);
  RawClient held(running.port());
  RawClient idle(running.port());
  RawClient partial(running.port());
  held.send("GET /hold HTTP/1.1\r\nHost: h\r\n\r\n");
  idle.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  partial.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_EQ(idle.read().status, 200);
  EXPECT_EQ(partial.read().status, 200);
  ASSERT_TRUE(wait_until_true([&] { return handler.held != nullptr; }));
  partial.send("GET / HTTP/1.1\r\nHo");
  for (int i = 0; i < 2; ++i) {  // one on each loop: answered after the part was read
    RawClient probe(running.port());
    probe.send("GET / HTTP/1.0\r\n\r\n");
    EXPECT_EQ(probe.read().status, 200);
  }
  running.server().announce_close();
  running.server().stop_accepting();
  running.server().drain();
  EXPECT_TRUE(idle.at_end());
  partial.send("st: h\r\n\r\n");
  const RawReply last = partial.read();
  EXPECT_EQ(last.status, 200);
  EXPECT_NE(last.head.find("Connection: close\r\n"), std::string::npos);
  EXPECT_TRUE(partial.at_end());
  HttpExchange* const exchange = handler.held;
  exchange->loop().post([exchange] { exchange->reply_text(200, "", "done"); });
  EXPECT_EQ(held.read().body, "done");
  EXPECT_TRUE(held.at_end());
  EXPECT_TRUE(wait_until_true([&] { return running.server().open_connections() == 0; }));
  RawClient late(running.port());
  EXPECT_FALSE(late.connected());
}

TEST(HttpLimitsTest, ServesThoseWhoConnectedBeforeItStoppedAccepting) {
  CountingHandler handler;
  RunningServer running(handler);
  Signal signal;
  bool go_on = false;
  running.loop().post([&] { EXPECT_TRUE(signal.wait([&] { return go_on; })); });
  RawClient client(running.port());  // greeted by the kernel while the loop is busy
  client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  running.server().stop_accepting();
  signal.change([&] { go_on = true; });
  EXPECT_EQ(client.read().status, 200);
}

TEST(HttpLimitsTest, ServesARequestThatArrivedBeforeTheDrain) {
  CountingHandler handler;
  RunningServer running(handler);
  RawClient client(running.port());
  client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_EQ(client.read().status, 200);
  Signal signal;
  bool go_on = false;
  running.loop().post([&] { EXPECT_TRUE(signal.wait([&] { return go_on; })); });
  client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");  // not read yet: the loop is busy
  running.server().drain();
  signal.change([&] { go_on = true; });
  EXPECT_EQ(client.read().status, 200);
  EXPECT_TRUE(client.at_end());
}

TEST(HttpLimitsTest, ServesOnWithAnnouncedClose) {
  CountingHandler handler;
  RunningServer running(handler);
  RawClient client(running.port());
  client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_EQ(client.read().status, 200);
  running.server().announce_close();
  client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  const RawReply reply = client.read();
  EXPECT_EQ(reply.status, 200);
  EXPECT_NE(reply.head.find("Connection: close\r\n"), std::string::npos);
  EXPECT_TRUE(client.at_end());
}

TEST(HttpLimitsTest, DestructionTellsTheHandlerOfOpenRequests) {
  CountingHandler handler;
  auto running = std::make_unique<RunningServer>(handler);
  RawClient client(running->port());
  client.send("GET /hold HTTP/1.1\r\nHost: h\r\n\r\n");
  ASSERT_TRUE(wait_until_true([&] { return handler.held != nullptr; }));
  running.reset();
  EXPECT_EQ(handler.gone, 1);
  EXPECT_TRUE(client.at_end());
}

TEST(HttpLimitsTest, SaysWhyItCannotListen) {
  CountingHandler handler;
  RunningServer running(handler);
  MonotonicTime time;
  Loop loop(time);
  Loop* const loops[] = {&loop};
  HttpServerOptions options;
  options.address = "127.0.0.1";
  options.port = running.port();
  const auto taken = HttpServer::listen(options, loops, handler);
  ASSERT_FALSE(taken.ok());
  EXPECT_EQ(taken.error().message,
            "port " + std::to_string(running.port()) + " of 127.0.0.1 is taken by another process");
  options.address = "localhost";
  EXPECT_EQ(HttpServer::listen(options, loops, handler).error().code, Code::kInvalidArgument);
  options.address = "203.0.113.7";
  EXPECT_EQ(HttpServer::listen(options, loops, handler).error().code, Code::kInvalidArgument);
}

}  // namespace
}  // namespace tauto::net
