#include "lab/request_set.h"

#include <algorithm>

#include "net/http_text.h"

namespace tauto::lab {

std::string format_message(const HttpMessage& message) {
  const auto replaced = [&](std::string_view name) {
    return std::any_of(message.headers.begin(), message.headers.end(),
                       [&](const auto& h) { return net::same_name(h.name, name); });
  };
  std::string out;
  out.reserve(256 + message.body.size());
  out.append(message.method).append(" ").append(message.path).append(" HTTP/1.1\r\n");
  if (!replaced("Host")) out.append("Host: ").append(message.host).append("\r\n");
  if (!replaced("User-Agent")) out += "User-Agent: tauto-bench\r\n";
  for (const auto& header : message.headers) {
    out.append(header.name).append(": ").append(header.value).append("\r\n");
  }
  if (message.method == "POST") {
    if (!replaced("Content-Type")) out += "Content-Type: application/json\r\n";
    out += "Content-Length: " + std::to_string(message.body.size()) + "\r\n";
  }
  out += "\r\n";
  out += message.body;
  return out;
}

}  // namespace tauto::lab
