// The server over real sockets: what a client sends byte by byte, and what it gets back.
#include "net/http_server.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "net/raw_client_test.h"

namespace tauto::net {
namespace {

std::string as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Answers by path: /echo the body, /later the body from a posted message, /hold when told to,
/// /big/N N bytes in two pieces, /head what it saw. Counts its calls.
class TestHandler : public HttpHandler {
 public:
  void on_request(HttpExchange& exchange) override {
    signal.change([&] { ++requests; });
    if (exchange.path() == "/hold") {
      signal.change([&] { held = &exchange; });
    } else if (exchange.path() == "/later") {
      exchange.loop().post([](void* e) { echo(*static_cast<HttpExchange*>(e)); }, &exchange);
    } else if (exchange.path().starts_with("/big/")) {
      send_big(exchange);
    } else if (exchange.path() == "/head") {
      describe(exchange);
    } else {
      echo(exchange);
    }
  }
  void on_sent(HttpExchange& exchange, Instant at, bool ok) override {
    signal.change([&] {
      ++(ok ? sent : failed);
      order_right = order_right && exchange.first_byte() <= exchange.last_byte() &&
                    exchange.last_byte() <= at;
    });
  }
  void on_client_gone(HttpExchange&) override {
    signal.change([&] { ++gone; });
  }

  static void echo(HttpExchange& exchange) {
    exchange.text() = as_text(exchange.body());
    exchange.reply_text(200, "text/plain", exchange.text());
  }
  void send_big(HttpExchange& exchange) {
    const std::size_t bytes = std::stoul(std::string(exchange.path().substr(5)));
    big.assign(bytes, std::byte{'x'});
    const std::span<const std::byte> all(big);
    pieces = {all.first(bytes / 2), all.subspan(bytes / 2)};
    exchange.reply({.status = 200, .body = pieces});
  }
  static void describe(HttpExchange& exchange) {
    std::string& text = exchange.text();
    text.append(exchange.method_text()).append(" ").append(exchange.path());
    text.append(" q=").append(exchange.query());
    for (const HttpField& field : exchange.fields()) {
      text.append(" [").append(field.name).append("=").append(field.value).append("]");
    }
    text.append(" ct=").append(exchange.header("content-type"));
    text.append(" none=").append(exchange.header("absent"));
    exchange.extra_headers() = "X-Extra: yes\r\n";
    exchange.reply_text(201, "text/plain", text);
  }

  Signal signal;
  int requests = 0;
  int sent = 0;
  int failed = 0;
  int gone = 0;
  bool order_right = true;
  HttpExchange* held = nullptr;
  std::vector<std::byte> big;
  std::vector<std::span<const std::byte>> pieces;
};

std::string post(std::string_view path, std::string_view body, std::string_view extra = "") {
  std::string text = "POST " + std::string(path) + " HTTP/1.1\r\nHost: h\r\n";
  text.append(extra);
  text += "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n";
  return text.append(body);
}

class HttpServerTest : public ::testing::Test {
 protected:
  TestHandler handler;
  RunningServer running{handler};
};

TEST_F(HttpServerTest, KeepsAConnectionForManyRequests) {
  RawClient client(running.port());
  for (int i = 0; i < 200; ++i) {
    const std::string body(static_cast<std::size_t>(i * 37), static_cast<char>('a' + i % 26));
    ASSERT_TRUE(client.send(post(i % 2 == 0 ? "/echo" : "/later", body)));
    const RawReply reply = client.read();
    ASSERT_EQ(reply.status, 200);
    ASSERT_EQ(reply.body, body);
  }
  EXPECT_EQ(running.server().open_connections(), 1u);
  EXPECT_TRUE(handler.signal.wait([&] { return handler.sent == 200; }));
  EXPECT_TRUE(handler.order_right);
}

TEST_F(HttpServerTest, WritesTheHeadAsPromised) {
  RawClient client(running.port());
  client.send("GET /head?a=1&b HTTP/1.1\r\nhOsT: x\r\nCONTENT-TYPE:  text/x \r\nEmpty:\r\n\r\n");
  const RawReply reply = client.read();
  EXPECT_EQ(reply.head, "HTTP/1.1 201 Created\r\nContent-Type: text/plain\r\nContent-Length: " +
                            std::to_string(reply.body.size()) + "\r\nX-Extra: yes\r\n\r\n");
  EXPECT_EQ(reply.body,
            "GET /head q=a=1&b [hOsT=x] [CONTENT-TYPE=text/x] [Empty=] ct=text/x none=");
}

TEST_F(HttpServerTest, AnswersPipelinedRequestsInOrder) {
  for (const std::string_view path : {"/echo", "/later"}) {
    RawClient client(running.port());
    std::string all;
    for (int i = 0; i < 300; ++i) all += post(path, "body " + std::to_string(i));
    ASSERT_TRUE(client.send(all));
    for (int i = 0; i < 300; ++i) {
      const RawReply reply = client.read();
      ASSERT_EQ(reply.body, "body " + std::to_string(i)) << path;
    }
  }
}

TEST_F(HttpServerTest, UnderstandsRequestsCutAnywhere) {
  const std::string chunked =
      "POST /later HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
      "4;x=y\r\nWiki\r\n5\r\npedia\r\n0\r\nTrailer: t\r\n\r\n";
  const std::string requests = "\r\n" + post("/echo", "0123456789") + chunked;
  for (std::size_t cut = 1; cut < requests.size(); ++cut) {
    RawClient client(running.port());
    client.send(post("/echo", "zero"));
    client.send(std::string_view(requests).substr(0, cut));
    // With this reply the first part has most likely been read too; every cut is right either way.
    ASSERT_EQ(client.read().body, "zero");
    client.send(std::string_view(requests).substr(cut));
    ASSERT_EQ(client.read().body, "0123456789") << cut;
    ASSERT_EQ(client.read().body, "Wikipedia") << cut;
  }
}

TEST_F(HttpServerTest, ReadsLargeBodies) {
  std::string body;
  for (int i = 0; body.size() < (std::size_t{12} << 20); ++i) body += std::to_string(i) + ",";
  for (const std::size_t size : {body.size(), std::size_t{1} << 20, std::size_t{8192}}) {
    RawClient client(running.port());
    const std::string part = body.substr(0, size);
    // The reply may fill the socket while the request is still being sent only if the server
    // answered early: it must not.
    ASSERT_TRUE(client.send(post("/echo", part)));
    ASSERT_TRUE(client.send(post("/later", "after")));
    EXPECT_EQ(client.read().body == part, true) << size;
    EXPECT_EQ(client.read().body, "after");
  }
}

TEST_F(HttpServerTest, WaitsForSlowReaders) {
  RawClient client(running.port(), 4096);
  client.send("GET /big/16777216 HTTP/1.1\r\nHost: h\r\n\r\n");
  client.send(post("/echo", "next"));
  const RawReply reply = client.read();
  EXPECT_EQ(reply.body.size(), std::size_t{16} << 20);
  EXPECT_EQ(reply.body.find_first_not_of('x'), std::string::npos);
  EXPECT_EQ(client.read().body, "next");
}

TEST_F(HttpServerTest, TellsWhenAReaderLeaves) {
  RawClient client(running.port(), 4096);
  client.send("GET /big/16777216 HTTP/1.1\r\nHost: h\r\n\r\n");
  ASSERT_TRUE(handler.signal.wait([&] { return handler.requests == 1; }));
  client.reset();
  EXPECT_TRUE(handler.signal.wait([&] { return handler.failed == 1; }));
  EXPECT_TRUE(wait_until_true([&] { return running.server().open_connections() == 0; }));
  EXPECT_EQ(handler.gone, 0);
}

TEST_F(HttpServerTest, TellsWhenAClientLeavesBeforeItsReply) {
  const std::vector<std::function<void(RawClient&)>> ways = {[](RawClient& c) { c.close(); },
                                                             [](RawClient& c) { c.reset(); },
                                                             [](RawClient& c) { c.end_sending(); }};
  int expected = 0;
  for (const auto& leave : ways) {
    RawClient client(running.port());
    client.send(post("/hold", "x"));
    ASSERT_TRUE(handler.signal.wait([&] { return handler.held != nullptr; }));
    handler.signal.change([&] { handler.held = nullptr; });
    leave(client);
    ++expected;
    EXPECT_TRUE(handler.signal.wait([&] { return handler.gone == expected; })) << expected;
  }
  EXPECT_TRUE(wait_until_true([&] { return running.server().open_connections() == 0; }));
  EXPECT_EQ(handler.sent, 0);
}

TEST_F(HttpServerTest, HoldsTheNextRequestBackUntilTheReply) {
  RawClient client(running.port());
  client.send(post("/hold", "first"));
  ASSERT_TRUE(handler.signal.wait([&] { return handler.held != nullptr; }));
  client.send(post("/echo", "second"));
  client.send(post("/echo", "third"));
  running.loop().post([&] { TestHandler::echo(*handler.held); });
  EXPECT_EQ(client.read().body, "first");
  EXPECT_EQ(client.read().body, "second");
  EXPECT_EQ(client.read().body, "third");
}

TEST_F(HttpServerTest, ContinuesWhereAClientAsksFirst) {
  RawClient client(running.port());
  client.send(
      "POST /echo HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n");
  EXPECT_EQ(client.read().status, 100);
  client.send("hello");
  EXPECT_EQ(client.read().body, "hello");
  client.send(post("/echo", "here", "Expect: 100-continue\r\n"));
  EXPECT_EQ(client.read().body, "here");  // no 100 when the body is there already
}

TEST_F(HttpServerTest, AnswersHeadWithoutABody) {
  RawClient client(running.port());
  client.send("HEAD /big/1000 HTTP/1.1\r\nHost: h\r\n\r\n");
  const RawReply reply = client.read(true);
  EXPECT_NE(reply.head.find("Content-Length: 1000\r\n"), std::string::npos);
  client.send(post("/echo", "next"));
  EXPECT_EQ(client.read().body, "next");
}

TEST_F(HttpServerTest, ClosesWhenAsked) {
  struct Case {
    std::string_view request;
    bool stays;
  };
  for (const Case& c :
       {Case{"GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", false},
        Case{"GET / HTTP/1.1\r\nHost: h\r\n\r\n", true}, Case{"GET / HTTP/1.0\r\n\r\n", false},
        Case{"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", true}}) {
    RawClient client(running.port());
    client.send(c.request);
    const RawReply reply = client.read();
    EXPECT_EQ(reply.status, 200);
    EXPECT_EQ(reply.head.find("Connection: close") == std::string::npos, c.stays) << c.request;
    if (c.stays) {
      client.send(post("/echo", "more"));
      EXPECT_EQ(client.read().body, "more");
    } else {
      EXPECT_TRUE(client.at_end());
    }
  }
}

}  // namespace
}  // namespace tauto::net
