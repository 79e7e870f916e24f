#pragma once
// One accepted connection of an HttpServer: reads requests, hands them out, writes replies. Lives
// on one loop; kept alive by the operations it has started and by the share's list.

#include <sys/uio.h>

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "net/http_exchange.h"
#include "net/http_server.h"
#include "net/loop_impl.h"
#include "net/request_reader.h"

namespace tauto::net {

class HttpConnection;

/// What the connections of one server on one loop share. Loop thread only.
struct HttpShare {
  Loop& loop;
  std::size_t loop_index;
  HttpHandler& handler;
  const HttpLimits& limits;
  const ReadLimits& read_limits;
  const std::atomic<bool>& closing;  // replies say `Connection: close`
  std::atomic<std::size_t>& open_count;
  std::vector<HttpConnection*> connections;  // all that are not closed
};

class HttpConnection final : public HttpExchange {
 public:
  /// Takes the socket `fd`. `refused`: over the limit, so it only gets a 503.
  static void start(HttpShare& share, int fd, bool refused);

  void reply(const Reply& reply) override;
  /// Closes at once; a request that waits for its answer learns of it.
  void abort();
  /// Closes unless something of a request has arrived.
  void close_if_idle();
  /// Closes when it has stood still for longer than its limit.
  void check_time(Instant now);

 private:
  enum class State : std::uint8_t {
    kReading,    // waiting for a request, or in the middle of one
    kHandling,   // the handler has the request
    kSending,    // its reply is on the way
    kLingering,  // the last reply was sent; what still arrives is thrown away
    kClosed,
  };
  class Ref;
  struct ReadHandler;
  struct WriteHandler;

  HttpConnection(HttpShare& share, int fd);
  ~HttpConnection();

  void start_read();
  void on_read(const boost::system::error_code& error, std::size_t bytes);
  void on_writable(const boost::system::error_code& error);
  void on_peer_closed();
  void close_unless_readable();
  void serve(RequestReader::Progress progress, Instant now);
  void resume();
  void refuse(const Refusal& refusal);
  void send_continue();
  void write_head(const Reply& reply, bool keep);
  void gather(const Reply& reply);
  void write();
  void finish(bool ok);
  void linger(Instant now);
  void close();

  HttpShare& share_;
  boost::asio::basic_stream_socket<boost::asio::ip::tcp, boost::asio::io_context::executor_type>
      socket_;
  RequestReader reader_;
  std::string head_;
  std::vector<iovec> pieces_;
  std::size_t pieces_sent_ = 0;
  std::size_t list_index_ = 0;
  Instant since_{};         // start of the wait that check_time() measures
  std::uint32_t uses_ = 1;  // the list, and operations on their way
  State state_ = State::kReading;
  bool reading_ = false;      // a read operation is on its way
  bool serving_ = false;      // inside serve(): it goes on with the next request itself
  bool own_reply_ = false;    // the reply is ours, not the handler's
  bool close_after_ = false;  // once the reply is sent
  bool ending_ = false;       // idle and to be closed: the cancelled read decides
  bool peer_done_ = false;    // the client sent its end of stream
  bool first_request_ = true;
};

}  // namespace tauto::net
