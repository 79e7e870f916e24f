// Any bytes, cut anywhere: the reader must neither crash nor see other requests than it sees when
// the bytes come at once. The first byte of the input is the seed of the cuts.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "core/arrivals.h"
#include "net/request_reader.h"

namespace {

using namespace tauto;
using namespace tauto::net;

const ReadLimits kLimits{2048, 1 << 16, "Inference-Header-Content-Length"};

void append(std::string& out, const HttpRequest& request) {
  out.append(request.method_text).append(" ").append(request.target);
  for (const HttpField& field : request.fields) {
    out.append("\n").append(field.name).append("=").append(field.value);
  }
  const std::span<const std::byte> body = request.body.bytes();
  out.append("\n").append(reinterpret_cast<const char*>(body.data()), body.size()).append("\n\n");
}

/// Whole requests only: a malformed head is refused at sight when it comes at once, and when it is
/// complete when it comes in parts.
std::string requests_in(std::string_view input, std::uint64_t seed, std::size_t part_max) {
  BodyPool pool;
  HttpRequest request;
  RequestReader reader(pool, kLimits, request);
  SplitMix64 random(seed);
  std::string seen;
  while (!input.empty()) {
    const std::span<std::byte> room = reader.space();
    if (room.empty()) std::abort();
    const std::size_t part = 1 + static_cast<std::size_t>(random.next() % part_max);
    const std::size_t n = std::min({room.size(), input.size(), part});
    std::memcpy(room.data(), input.data(), n);
    input.remove_prefix(n);
    RequestReader::Progress progress = reader.commit(n);
    while (progress == RequestReader::Progress::kComplete) {
      append(seen, request);
      progress = reader.next();
    }
    if (progress == RequestReader::Progress::kRefused) break;
  }
  return seen;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string whole = requests_in(input, 0, 1);
  const std::string cut = requests_in(input, data[0], 1 + data[0] % 64u);
  const std::string at_once = requests_in(input, 0, std::size_t{1} << 40);
  if (whole != cut || whole != at_once) std::abort();
  return 0;
}
