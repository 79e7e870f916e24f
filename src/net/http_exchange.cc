#include "net/http_exchange.h"

#include "net/http_text.h"

namespace tauto::net {

std::string_view HttpExchange::header(std::string_view name) const {
  for (const HttpField& field : request_.fields) {
    if (same_name(field.name, name)) return field.value;
  }
  return {};
}

void HttpExchange::reply_text(unsigned status, std::string_view content_type,
                              std::string_view body) {
  single_piece_ = std::as_bytes(std::span(body.data(), body.size()));
  reply({.status = status, .content_type = content_type, .body = {&single_piece_, 1}});
}

}  // namespace tauto::net
