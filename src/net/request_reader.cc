#include "net/request_reader.h"

#include <algorithm>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <cstring>
#include <functional>
#include <optional>
#include <utility>

#include "base/check.h"
#include "net/http_text.h"

namespace tauto::net {
namespace http = boost::beast::http;
using boost::beast::error_code;
using boost::beast::string_view;

namespace {

constexpr std::size_t kInputBytes = 8192;
constexpr std::size_t kChunkRoom = 16384;  // input room behind the head of a chunked request
constexpr std::size_t kFieldsMax = 256;
constexpr std::uint32_t kChunksMax = 65536;  // as Triton: a flood of tiny chunks is an attack

Method method_of(http::verb verb) {
  switch (verb) {
    case http::verb::get:
      return Method::kGet;
    case http::verb::post:
      return Method::kPost;
    case http::verb::put:
      return Method::kPut;
    case http::verb::delete_:
      return Method::kDelete;
    case http::verb::head:
      return Method::kHead;
    case http::verb::options:
      return Method::kOptions;
    case http::verb::patch:
      return Method::kPatch;
    default:
      return Method::kOther;
  }
}

/// "http://host/path" -> "/path"; other forms unchanged.
std::string_view origin_form(std::string_view target) {
  if (target.empty() || target.front() == '/') return target;
  const std::size_t scheme = target.find("://");
  if (scheme == std::string_view::npos) return target;
  const std::size_t path = target.find('/', scheme + 3);
  return path == std::string_view::npos ? std::string_view("/") : target.substr(path);
}

Refusal refusal_for(const error_code& error) {
  if (error == http::error::header_limit) return {431, "the request's header is too large"};
  if (error == http::error::body_limit) return {413, "the request's body is too large"};
  if (error == http::error::bad_version) return {505, "only HTTP/1.0 and HTTP/1.1 are spoken here"};
  if (error == http::error::bad_content_length || error == http::error::multiple_content_length) {
    return {400, "bad Content-Length"};
  }
  if (error == http::error::bad_transfer_encoding) return {400, "bad Transfer-Encoding"};
  if (error == http::error::bad_chunk || error == http::error::bad_chunk_extension) {
    return {400, "bad chunk"};
  }
  return {400, "malformed HTTP request"};
}

}  // namespace

/// Beast's parser with our sinks: fields become views into the input, chunks go to the body. One
/// Message is one request; it is rebuilt in place for the next.
class RequestReader::Parser {
 public:
  class Message final : public http::basic_parser<true> {
   public:
    /// `input`: what put() will get; a field that does not point into it would not last.
    Message(HttpRequest& request, const ReadLimits& limits, std::string_view input)
        : request_(request), limits_(limits), input_(input) {
      header_limit(static_cast<std::uint32_t>(limits.head_bytes_max));
      body_limit(limits.body_bytes_max);
    }
    Refusal refusal;  // ours, where Beast's own error code would say less
    bool http_1_0 = false;
    bool expects_continue = false;
    std::size_t align_at = 0;  // offset in the body that should be aligned

   private:
    void on_request_impl(http::verb verb, string_view method, string_view target, int version,
                         error_code&) override {
      request_.method = method_of(verb);
      request_.method_text = method;
      request_.target = origin_form(target);
      http_1_0 = version == 10;
    }
    void on_response_impl(int, string_view, int, error_code&) override {}
    void on_field_impl(http::field field, string_view name, string_view value,
                       error_code& error) override {
      if (is_header_done()) return;  // trailers are read and dropped
      if (request_.fields.size() == kFieldsMax) {
        return fail({431, "the request has too many header fields"}, error);
      }
      // A folded value was unfolded into memory that dies with this call.
      const std::less<> before;
      if (!value.empty() && (before(value.data(), input_.data()) ||
                             !before(value.data(), input_.data() + input_.size()))) {
        return fail({400, "folded header fields are not accepted"}, error);
      }
      request_.fields.push_back({name, value});
      if (field == http::field::host) {
        ++hosts_;
      } else if (field == http::field::transfer_encoding) {
        check_encoding(value, error);
      } else if (field == http::field::expect) {
        if (!same_name(value, "100-continue")) fail({417, "unknown expectation"}, error);
        expects_continue = !http_1_0;
      } else if (same_name(name, limits_.body_align_header)) {
        align_at = static_cast<std::size_t>(parse_decimal(value).value_or(0));
      }
    }
    void check_encoding(std::string_view value, error_code& error) {
      if (http_1_0) {
        fail({400, "Transfer-Encoding in HTTP/1.0"}, error);
      } else if (!same_name(value, "chunked")) {
        fail({501, "only the transfer encoding 'chunked' is supported"}, error);
      }
    }
    void on_header_impl(error_code& error) override {
      if (hosts_ > 1 || (hosts_ == 0 && !http_1_0)) {
        fail({400, "the request must have exactly one Host header"}, error);
      }
    }
    void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
    std::size_t on_body_impl(string_view body, error_code&) override { return body.size(); }
    void on_chunk_header_impl(std::uint64_t size, string_view, error_code& error) override {
      if (size > 0 && ++chunks_ > kChunksMax) fail({400, "too many chunks"}, error);
    }
    std::size_t on_chunk_body_impl(std::uint64_t, string_view body, error_code&) override {
      BodyWriter::append(request_.body, std::as_bytes(std::span(body.data(), body.size())));
      return body.size();
    }
    void on_finish_impl(error_code&) override {}
    void fail(Refusal why, error_code& error) {
      refusal = why;
      error = http::error::bad_value;
    }

    HttpRequest& request_;
    const ReadLimits& limits_;
    std::string_view input_;
    std::uint32_t hosts_ = 0;
    std::uint32_t chunks_ = 0;
  };

  std::optional<Message> message;
};

RequestReader::RequestReader(BodyPool& pool, const ReadLimits& limits, HttpRequest& request)
    : pool_(pool),
      limits_(limits),
      request_(request),
      parser_(std::make_unique<Parser>()),
      input_(new char[kInputBytes]),
      capacity_(kInputBytes) {
  request_.fields.reserve(16);
}

RequestReader::~RequestReader() = default;

std::span<std::byte> RequestReader::space() {
  TAUTO_CHECK(!lent_);
  lent_ = true;
  switch (mode_) {
    case Mode::kBody:
      return BodyWriter::space(request_.body, static_cast<std::size_t>(body_left_));
    case Mode::kHead:
      // Views into the head exist only once it is complete, so it may still move.
      if (start_ != 0 && capacity_ - end_ < kInputBytes / 4) {
        std::memmove(input_.get(), input_.get() + start_, end_ - start_);
        end_ -= start_;
        start_ = parsed_ = 0;
      }
      if (end_ == capacity_) grow(capacity_ * 2);
      break;
    case Mode::kChunked:
      if (capacity_ - end_ < kInputBytes / 2) {
        std::memmove(input_.get() + head_end_, input_.get() + parsed_, end_ - parsed_);
        end_ -= parsed_ - head_end_;
        parsed_ = head_end_;
      }
      break;
    case Mode::kComplete:
      if (has_more()) {
        lent_ = false;
        return {};
      }
      // Only the head is still looked at: the body has its own memory.
      parsed_ = end_ = head_end_;
      lent_ = end_ != capacity_;
      break;
    case Mode::kRefused:
      break;
  }
  return std::as_writable_bytes(std::span(input_.get() + end_, capacity_ - end_));
}

RequestReader::Progress RequestReader::commit(std::size_t bytes) {
  lent_ = false;
  switch (mode_) {
    case Mode::kBody:
      BodyWriter::commit(request_.body, bytes);
      body_left_ -= bytes;
      return body_left_ == 0 ? complete() : Progress::kMore;
    case Mode::kHead:
      end_ += bytes;
      return parse_head();
    case Mode::kChunked:
      end_ += bytes;
      return parse_chunks();
    case Mode::kComplete:
      end_ += bytes;
      return Progress::kComplete;
    case Mode::kRefused:
      break;  // whatever follows a refused request is dropped
  }
  return Progress::kRefused;
}

RequestReader::Progress RequestReader::next() {
  TAUTO_CHECK(mode_ == Mode::kComplete);
  request_.fields.clear();
  request_.body.reset();
  parser_->message.reset();
  expects_continue_ = false;
  scanned_ = 0;
  mode_ = Mode::kHead;
  if (has_more()) {
    start_ = parsed_;
    return parse_head();
  }
  if (lent_) {
    start_ = end_;
    return Progress::kMore;
  }
  start_ = parsed_ = end_ = 0;
  // One large head must not cost memory for as long as the connection lives.
  if (capacity_ > kInputBytes + 2 * kChunkRoom) grow(kInputBytes);
  return Progress::kMore;
}

void RequestReader::abandon() {
  mode_ = Mode::kRefused;
  start_ = parsed_ = end_ = head_end_ = 0;
}

bool RequestReader::take_expectation() { return std::exchange(expects_continue_, false); }

RequestReader::Progress RequestReader::parse_head() {
  if (scanned_ != 0 && !find_head_end()) {
    if (end_ - start_ < limits_.head_bytes_max) return Progress::kMore;
    return refuse(refusal_for(http::error::header_limit));
  }
  // RFC 9112, 2.2: empty lines before a request are skipped.
  while (end_ - start_ >= 2 && input_[start_] == '\r' && input_[start_ + 1] == '\n') start_ += 2;
  if (start_ == end_ || (end_ - start_ == 1 && input_[start_] == '\r')) return Progress::kMore;
  auto& message = parser_->message;
  message.emplace(request_, limits_, std::string_view(input_.get() + start_, end_ - start_));
  error_code error;
  const std::size_t used = message->put({input_.get() + start_, end_ - start_}, error);
  if (error == http::error::need_more && scanned_ == 0) {
    // The usual case, a whole head in one read, needs no search for its end. Here it is not whole:
    // parse again when it is, since what was understood so far points into a buffer that may move.
    scanned_ = end_ - start_;
    request_.fields.clear();
    message.reset();
    // Do not wait for the end of something that cannot be HTTP, such as a TLS greeting.
    const auto first = static_cast<unsigned char>(input_[start_]);
    if (first > ' ' && first < 0x7f) return Progress::kMore;
    return refuse({400, "this port speaks plain HTTP"});
  }
  if (error) {
    return refuse(message->refusal.status != 0 ? message->refusal : refusal_for(error));
  }
  // Beast counts from the end of the request line.
  if (used > limits_.head_bytes_max) return refuse(refusal_for(http::error::header_limit));
  parsed_ = head_end_ = start_ + used;
  return head_done();
}

/// Whether the bytes since the last look complete the head.
bool RequestReader::find_head_end() {
  const std::size_t from = scanned_ < 3 ? 0 : scanned_ - 3;
  scanned_ = end_ - start_;
  const std::string_view fresh(input_.get() + start_ + from, scanned_ - from);
  return fresh.find("\r\n\r\n") != std::string_view::npos;
}

RequestReader::Progress RequestReader::head_done() {
  Parser::Message& message = *parser_->message;
  keep_alive_ = message.keep_alive();
  http_1_0_ = message.http_1_0;
  if (message.is_done()) return complete();
  expects_continue_ = message.expects_continue;
  if (message.chunked()) {
    mode_ = Mode::kChunked;
    if (capacity_ < head_end_ + kChunkRoom) grow(head_end_ + kChunkRoom);
    request_.body = pool_.take(kChunkRoom, body_start());
    return parse_chunks();
  }
  mode_ = Mode::kBody;
  const std::uint64_t length = *message.content_length();
  const std::size_t here =
      static_cast<std::size_t>(std::min<std::uint64_t>(length, end_ - parsed_));
  constexpr std::uint64_t at_once = std::uint64_t{1} << 20;
  request_.body = pool_.take(static_cast<std::size_t>(std::min(length, at_once)), body_start());
  BodyWriter::append(request_.body, std::as_bytes(std::span(input_.get() + parsed_, here)));
  parsed_ += here;
  body_left_ = length - here;
  return body_left_ == 0 ? complete() : Progress::kMore;
}

RequestReader::Progress RequestReader::parse_chunks() {
  Parser::Message& message = *parser_->message;
  while (parsed_ != end_ && !message.is_done()) {
    error_code error;
    parsed_ += message.put({input_.get() + parsed_, end_ - parsed_}, error);
    if (error == http::error::need_more) break;
    if (error) {
      return refuse(message.refusal.status != 0 ? message.refusal : refusal_for(error));
    }
  }
  if (message.is_done()) return complete();
  if (end_ - parsed_ == capacity_ - head_end_) {
    return refuse({431, "a chunk header or the trailers are too large"});
  }
  return Progress::kMore;
}

RequestReader::Progress RequestReader::refuse(Refusal refusal) {
  abandon();
  refusal_ = refusal;
  keep_alive_ = false;
  return Progress::kRefused;
}

RequestReader::Progress RequestReader::complete() {
  mode_ = Mode::kComplete;
  return Progress::kComplete;
}

/// Where the body begins in its block, so that the byte named by the align header is aligned.
std::size_t RequestReader::body_start() const {
  const std::size_t beyond = parser_->message->align_at % BodyPool::kAlignment;
  return (BodyPool::kAlignment - beyond) % BodyPool::kAlignment;
}

/// A larger input buffer; views into the head follow it.
void RequestReader::grow(std::size_t capacity) {
  std::unique_ptr<char[]> larger(new char[capacity]);
  std::memcpy(larger.get(), input_.get(), end_);
  const auto move = [&](std::string_view& view) {
    const std::less<> before;
    if (before(view.data(), input_.get()) || !before(view.data(), input_.get() + end_)) return;
    view = {larger.get() + (view.data() - input_.get()), view.size()};
  };
  if (mode_ != Mode::kHead) {
    move(request_.method_text);
    move(request_.target);
    for (HttpField& field : request_.fields) {
      move(field.name);
      move(field.value);
    }
  }
  input_ = std::move(larger);
  capacity_ = capacity;
}

}  // namespace tauto::net
