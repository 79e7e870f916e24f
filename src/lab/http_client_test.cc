#include "net/http_client.h"

#include <gtest/gtest.h>

#include "lab/scripted_server.h"

namespace tauto::lab {
namespace {

using namespace std::chrono_literals;
constexpr Duration kPatience = 60s;

net::Endpoint endpoint_of(std::uint16_t port) {
  return net::resolve_endpoint("127.0.0.1", port).value();
}

Result<net::HttpReply> ask(const ScriptedServer& server, std::string_view request) {
  return net::exchange(endpoint_of(server.port()), request, kPatience);
}
Result<net::HttpReply> ask(const ScriptedServer& server) {
  return ask(server, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
}

/// A server that always answers with these bytes, a piece at a time, and closes where told to.
ScriptedServer::Script raw(std::vector<std::string> pieces, bool close = false) {
  return [pieces = std::move(pieces), close](const SeenRequest&) {
    Act act;
    for (const auto& piece : pieces) act.pieces.push_back({piece, Duration::zero()});
    for (std::size_t i = 1; i < act.pieces.size(); ++i) act.pieces[i].after = 200us;
    act.close = close;
    return act;
  };
}

std::vector<std::string> byte_by_byte(std::string_view text) {
  std::vector<std::string> pieces;
  for (const char c : text) pieces.emplace_back(1, c);
  return pieces;
}

TEST(HttpClient, ReadsAReplyOfKnownLength) {
  ScriptedServer server(raw({"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"}));
  const auto reply = ask(server).value();
  EXPECT_EQ(reply.head.status, 200);
  EXPECT_TRUE(reply.head.keep_alive);
  EXPECT_EQ(reply.head.body_bytes, 5u);
  EXPECT_EQ(reply.body, "hello");
}

TEST(HttpClient, ReadsAReplyThatComesByteByByte) {
  const std::string text =
      "HTTP/1.1 429 Busy\r\nServer-Timing: a;dur=1\r\nServer-Timing: b;dur=2\r\n"
      "Inference-Header-Content-Length: 2\r\nContent-Length: 3\r\n\r\nabc";
  ScriptedServer server(raw(byte_by_byte(text)));
  const auto reply = ask(server).value();
  EXPECT_EQ(reply.head.status, 429);
  EXPECT_EQ(reply.head.server_timing, "a;dur=1, b;dur=2");
  EXPECT_EQ(reply.head.inference_header_bytes, 2u);
  EXPECT_EQ(reply.body, "abc");
}

TEST(HttpClient, ReadsChunksWhereverTheyAreCut) {
  const std::string text =
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
      "5;ext=1\r\nhello\r\n1\r\n \r\n5\r\nworld\r\n0\r\nTrailer: x\r\n\r\n";
  for (std::size_t cut = 1; cut < text.size(); cut += 7) {
    ScriptedServer server(raw({text.substr(0, cut), text.substr(cut)}));
    const auto reply = ask(server).value();
    EXPECT_EQ(reply.body, "hello world") << cut;
    EXPECT_TRUE(reply.head.keep_alive);
  }
}

TEST(HttpClient, ReadsABodyThatEndsWithTheConnection) {
  ScriptedServer server(raw({"HTTP/1.0 200 OK\r\n\r\nall ", "of it"}, true));
  const auto reply = ask(server).value();
  EXPECT_EQ(reply.body, "all of it");
  EXPECT_FALSE(reply.head.keep_alive);
}

TEST(HttpClient, SkipsInterimReplies) {
  ScriptedServer server(raw({"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nLink: x\r\n\r\n",
                             "HTTP/1.1 201 Made\r\nContent-Length: 0\r\n\r\n"}));
  EXPECT_EQ(ask(server).value().head.status, 201);
}

TEST(HttpClient, DoesNotReuseAConnectionThatIsToClose) {
  ScriptedServer server(raw({"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"}));
  EXPECT_FALSE(ask(server).value().head.keep_alive);
}

TEST(HttpClient, DoesNotReuseAConnectionWithBytesLeftOver) {
  ScriptedServer server(raw({"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\naHTTP/1.1 200 OK\r\n"}));
  const auto reply = ask(server).value();
  EXPECT_EQ(reply.body, "a");
  EXPECT_FALSE(reply.head.keep_alive);
}

TEST(HttpClient, TellsFailuresApart) {
  {
    ScriptedServer server(raw({"SSH-2.0-OpenSSH_9.2\r\n\r\n"}));
    EXPECT_NE(ask(server).error().message.find("does not answer in HTTP"), std::string::npos);
  }
  {
    ScriptedServer server(raw({"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort"}, true));
    EXPECT_NE(ask(server).error().message.find("closed the connection"), std::string::npos);
  }
  {
    ScriptedServer server([](const SeenRequest&) { return Act{{}, false, true}; });
    EXPECT_NE(ask(server).error().message.find("closed the connection"), std::string::npos);
  }
  std::uint16_t port = 0;
  {
    ScriptedServer server(raw({}));
    port = server.port();
  }
  const auto refused = net::exchange(endpoint_of(port), "GET / HTTP/1.1\r\n\r\n", kPatience);
  EXPECT_NE(refused.error().message.find("nobody listens"), std::string::npos);
}

TEST(HttpClient, CarriesLargeBodiesBothWays) {
  const std::string large(8 << 20, 'x');
  ScriptedServer server([&](const SeenRequest& r) { return Act::reply(200, r.body); });
  const auto reply =
      ask(server, "POST / HTTP/1.1\r\nContent-Length: " + std::to_string(large.size()) +
                      "\r\n\r\n" + large);
  EXPECT_EQ(reply.value().body, large);
}

TEST(HttpClient, RefusesNamesThatDoNotResolve) {
  EXPECT_FALSE(net::resolve_endpoint("no such host", 80).ok());
  EXPECT_EQ(net::resolve_endpoint("[::1]", 80).value().address.ss_family, AF_INET6);
}

}  // namespace
}  // namespace tauto::lab
