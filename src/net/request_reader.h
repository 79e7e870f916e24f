#pragma once
// Turns the bytes of one connection into requests, in order, without sockets. Heads and chunked
// bodies pass through Beast's parser; a body of known length is read straight into its own memory.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "net/body_pool.h"
#include "net/http_exchange.h"

namespace tauto::net {

struct ReadLimits {
  std::size_t head_bytes_max;
  std::size_t body_bytes_max;
  std::string_view body_align_header;  // see HttpServerOptions
};

/// Why a request cannot be served; the connection must be closed after saying so.
struct Refusal {
  unsigned status = 0;
  std::string_view message;
};

/// Usage: read into space(), commit() what came; on kComplete serve the request, then next().
/// Threads: one. Memory: an input buffer of 8 KiB, more for larger heads; the body.
class RequestReader {
 public:
  enum class Progress { kMore, kComplete, kRefused };

  /// `pool`, `request` and the limits' text outlive the reader.
  RequestReader(BodyPool& pool, const ReadLimits& limits, HttpRequest& request);
  ~RequestReader();
  RequestReader(const RequestReader&) = delete;
  RequestReader& operator=(const RequestReader&) = delete;

  /// Where the next bytes go, valid until commit(). Empty when bytes behind a complete request have
  /// already arrived: read again after next().
  std::span<std::byte> space();
  /// `bytes` were written into space(). Behind a complete request they are only kept.
  Progress commit(std::size_t bytes);
  /// Forgets the complete request and looks at what came after it.
  Progress next();

  /// Everything from now on is thrown away.
  void abandon();

  /// Nothing of a request has arrived yet.
  bool idle() const { return mode_ == Mode::kHead && start_ == end_; }
  bool reading_body() const { return mode_ == Mode::kBody || mode_ == Mode::kChunked; }
  /// Bytes behind the complete request have arrived.
  bool has_more() const { return parsed_ != end_; }
  /// True once for a request whose sender waits for "100 Continue" before sending its body.
  bool take_expectation();
  /// Of the complete request: may the connection serve another one.
  bool keep_alive() const { return keep_alive_; }
  bool http_1_0() const { return http_1_0_; }
  const Refusal& refusal() const { return refusal_; }

 private:
  class Parser;
  enum class Mode { kHead, kBody, kChunked, kComplete, kRefused };

  Progress parse_head();
  bool find_head_end();
  Progress head_done();
  Progress parse_chunks();
  Progress refuse(Refusal refusal);
  Progress complete();
  std::size_t body_start() const;
  void grow(std::size_t capacity);

  BodyPool& pool_;
  const ReadLimits& limits_;
  HttpRequest& request_;
  std::unique_ptr<Parser> parser_;
  std::unique_ptr<char[]> input_;
  std::size_t capacity_;
  // input_[start_, head_end_) is the head of the request at hand, input_[parsed_, end_) not yet
  // understood.
  std::size_t start_ = 0;
  std::size_t head_end_ = 0;
  std::size_t parsed_ = 0;
  std::size_t end_ = 0;
  std::size_t scanned_ = 0;  // bytes of an incomplete head that do not end it; 0: not looked at
  std::uint64_t body_left_ = 0;
  Mode mode_ = Mode::kHead;
  bool expects_continue_ = false;
  bool lent_ = false;  // space() was given out and not committed: the input must stay in place
  bool keep_alive_ = false;
  bool http_1_0_ = false;
  Refusal refusal_;
};

}  // namespace tauto::net
