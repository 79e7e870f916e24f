#pragma once
// The requests of a run as whole HTTP/1.1 messages, made before it begins: sending one costs the
// load generator nothing but the send.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tauto::lab {

/// Threads: one at a time.
class RequestSet {
 public:
  void add(std::string message) {
    bytes_ += message.size();
    messages_.push_back(std::move(message));
  }
  std::size_t size() const { return messages_.size(); }
  std::size_t bytes() const { return bytes_; }
  const std::string& operator[](std::size_t i) const { return messages_[i]; }
  /// In order, and from the first again after the last. Requires: not empty.
  std::span<const char> next() {
    const auto& message = messages_[at_];
    if (++at_ == messages_.size()) at_ = 0;
    return message;
  }

 private:
  std::vector<std::string> messages_;
  std::size_t at_ = 0;
  std::size_t bytes_ = 0;
};

/// "http://host:port/path?query" in parts; the scheme and the path may be left out.
struct HttpUrl {
  std::string host;
  std::uint16_t port = 80;
  std::string path = "/";
};

struct HttpHeader {
  std::string name;
  std::string value;
};

struct HttpMessage {
  std::string_view method;  // "GET", "POST"
  std::string_view path;
  std::string_view host;  // for the Host header
  std::vector<HttpHeader> headers;
  std::string_view body;  // Content-Length is written for POST only
};
/// The bytes to send. A header that is also ours (Content-Type, User-Agent, Host) replaces ours.
std::string format_message(const HttpMessage& message);

}  // namespace tauto::lab
