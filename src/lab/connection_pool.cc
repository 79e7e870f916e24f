#include "lab/connection_pool.h"

#include <algorithm>

namespace tauto::lab {

Connection* ConnectionPool::take() {
  auto& from = idle_.empty() ? closed_ : idle_;
  if (!from.empty()) {
    auto* connection = from.back();
    from.pop_back();
    return connection;
  }
  if (all_.size() >= limit_) return nullptr;
  all_.push_back(std::make_unique<Connection>(static_cast<std::uint32_t>(all_.size())));
  return all_.back().get();
}

void ConnectionPool::give(Connection& connection) {
  TAUTO_CHECK(!connection.busy);
  (connection.http.fd() >= 0 ? idle_ : closed_).push_back(&connection);
}

void ConnectionPool::drop_idle(Connection& connection) {
  const auto at = std::find(idle_.begin(), idle_.end(), &connection);
  if (at != idle_.end()) idle_.erase(at);
  closed_.push_back(&connection);
}

void ConnectionPool::begin(Connection& connection) {
  TAUTO_CHECK(!connection.busy);
  connection.busy = true;
  connection.older = newest_;
  connection.newer = nullptr;
  (newest_ == nullptr ? oldest_ : newest_->newer) = &connection;
  newest_ = &connection;
  ++busy_;
}

void ConnectionPool::end(Connection& connection) {
  TAUTO_CHECK(connection.busy);
  connection.busy = false;
  (connection.older == nullptr ? oldest_ : connection.older->newer) = connection.newer;
  (connection.newer == nullptr ? newest_ : connection.newer->older) = connection.older;
  --busy_;
}

}  // namespace tauto::lab
