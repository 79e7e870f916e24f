// The same echo as beast_echo through our own net layer: what the rest of the server has left.
// Usage: net_echo PORT

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "net/http_server.h"
#include "net/loop.h"
#include "net/monotonic.h"

namespace {

using namespace tauto;

constexpr std::string_view kJsonLength = "Inference-Header-Content-Length";

class Echo final : public net::HttpHandler {
 public:
  void on_request(net::HttpExchange& exchange) override {
    if (const std::string_view length = exchange.header(kJsonLength); !length.empty()) {
      exchange.extra_headers().append(kJsonLength).append(": ").append(length).append("\r\n");
    }
    const std::span<const std::byte> body = exchange.body();
    exchange.reply_text(200, "application/octet-stream",
                        {reinterpret_cast<const char*>(body.data()), body.size()});
  }
  void on_sent(net::HttpExchange&, Instant, bool) override {}
  void on_client_gone(net::HttpExchange&) override {}
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: net_echo PORT\n");
    return 2;
  }
  const net::MonotonicTime time;
  net::Loop loop(time);
  net::Loop* const loops[] = {&loop};
  Echo echo;
  net::HttpServerOptions options;
  options.address = "127.0.0.1";
  options.port = static_cast<std::uint16_t>(std::atoi(argv[1]));
  options.body_align_header = kJsonLength;
  const auto server = net::HttpServer::listen(options, loops, echo);
  if (!server.ok()) {
    std::fprintf(stderr, "net_echo: %s\n", server.error().message.c_str());
    return 2;
  }
  loop.run();
}
