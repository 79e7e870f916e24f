// The yardstick: what one thread of plain Boost.Beast costs for an infer-shaped request. Reads a
// POST, sends its body back with the same Inference-Header-Content-Length, does nothing else.
// Usage: beast_echo PORT

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using boost::system::error_code;
using Socket = asio::basic_stream_socket<asio::ip::tcp, asio::io_context::executor_type>;
using Body = http::vector_body<char>;

constexpr const char* kJsonLength = "Inference-Header-Content-Length";

class Session : public std::enable_shared_from_this<Session> {
 public:
  explicit Session(Socket socket) : socket_(std::move(socket)) {}

  void read() {
    request_ = {};
    http::async_read(socket_, buffer_, request_,
                     [self = shared_from_this()](error_code error, std::size_t) {
                       if (!error) self->answer();
                     });
  }

 private:
  void answer() {
    response_ = {};
    response_.result(http::status::ok);
    response_.version(request_.version());
    response_.keep_alive(request_.keep_alive());
    response_.set(http::field::content_type, "application/octet-stream");
    if (const auto field = request_.find(kJsonLength); field != request_.end()) {
      response_.set(kJsonLength, field->value());
    }
    response_.body() = std::move(request_.body());
    response_.prepare_payload();
    http::async_write(socket_, response_,
                      [self = shared_from_this()](error_code error, std::size_t) {
                        if (!error && self->response_.keep_alive()) self->read();
                      });
  }

  Socket socket_;
  beast::flat_buffer buffer_;
  http::request<Body> request_;
  http::response<Body> response_;
};

class Server {
 public:
  Server(asio::io_context& context, std::uint16_t port)
      : acceptor_(context, {asio::ip::address_v4::loopback(), port}) {}

  void accept() {
    acceptor_.async_accept([this](error_code error, Socket socket) {
      if (!error) {
        error_code ignored;
        socket.set_option(asio::ip::tcp::no_delay(true), ignored);
        std::make_shared<Session>(std::move(socket))->read();
      }
      accept();
    });
  }

 private:
  asio::basic_socket_acceptor<asio::ip::tcp, asio::io_context::executor_type> acceptor_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: beast_echo PORT\n");
    return 2;
  }
  try {
    asio::io_context context(1);
    Server server(context, static_cast<std::uint16_t>(std::atoi(argv[1])));
    server.accept();
    context.run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "beast_echo: %s\n", error.what());
    return 2;
  }
}
