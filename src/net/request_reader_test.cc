// Bytes to requests without sockets: however the bytes are cut, the same requests come out.
#include "net/request_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "core/arrivals.h"

namespace tauto::net {
namespace {

const ReadLimits kLimits{4096, 1 << 20, "inference-header-content-length"};

std::string describe(const HttpRequest& request) {
  std::string text(request.method_text);
  text.append(" ").append(request.target);
  for (const HttpField& field : request.fields) {
    text.append("|").append(field.name).append("=").append(field.value);
  }
  const std::span<const std::byte> body = request.body.bytes();
  return text.append("|").append(reinterpret_cast<const char*>(body.data()), body.size());
}

/// Feeds `input` in parts whose sizes `size_of_part` gives; what came out, request by request.
template <class SizeOfPart>
std::vector<std::string> read_all(std::string_view input, SizeOfPart size_of_part) {
  BodyPool pool;
  HttpRequest request;
  RequestReader reader(pool, kLimits, request);
  std::vector<std::string> seen;
  while (!input.empty()) {
    const std::span<std::byte> room = reader.space();
    const std::size_t n = std::min({room.size(), input.size(), size_of_part()});
    std::memcpy(room.data(), input.data(), n);
    input.remove_prefix(n);
    RequestReader::Progress progress = reader.commit(n);
    while (progress == RequestReader::Progress::kComplete) {
      seen.push_back(describe(request) + (reader.keep_alive() ? "|keep" : "|close"));
      progress = reader.next();
    }
    if (progress == RequestReader::Progress::kRefused) {
      seen.push_back(std::to_string(reader.refusal().status));
      break;
    }
  }
  return seen;
}

const std::string kPipeline =
    "GET /a?b HTTP/1.1\r\nHost: h\r\nLong: " + std::string(3000, 'l') + "\r\n\r\n" +
    "POST /c HTTP/1.1\r\nhost:h\r\nContent-Length: 9\r\nConnection: close\r\n\r\n123456789" +
    "\r\nPOST http://h:80/d HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n" +
    "a;ext=\"v\"\r\n0123456789\r\n7d0\r\n" + std::string(2000, 'c') + "\r\n0\r\nT: railer\r\n\r\n" +
    "POST /e HTTP/1.1\r\nHost: h\r\nContent-Length: 20000\r\n\r\n" + std::string(20000, 'e') +
    "DELETE /f HTTP/1.0\r\n\r\n";

TEST(RequestReaderTest, CutsDoNotMatter) {
  const std::vector<std::string> whole = read_all(kPipeline, [] { return std::size_t{1} << 20; });
  ASSERT_EQ(whole.size(), 5u);
  EXPECT_EQ(whole[1], "POST /c|host=h|Content-Length=9|Connection=close|123456789|close");
  EXPECT_EQ(whole[2], "POST /d|Host=h|Transfer-Encoding=chunked|0123456789" +
                          std::string(2000, 'c') + "|keep");
  EXPECT_EQ(whole[4], "DELETE /f||close");
  EXPECT_EQ(read_all(kPipeline, [] { return std::size_t{1}; }), whole);
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SplitMix64 random(seed);
    const std::size_t largest = std::size_t{1} << (seed % 14);
    const auto part = [&] { return static_cast<std::size_t>(1 + random.next() % largest); };
    ASSERT_EQ(read_all(kPipeline, part), whole) << "seed " << seed;
  }
}

TEST(RequestReaderTest, PlacesTheBodySoThatItsTensorsAreAligned) {
  BodyPool pool;
  HttpRequest request;
  RequestReader reader(pool, kLimits, request);
  for (const std::size_t json : {0u, 1u, 63u, 64u, 65u, 700u}) {
    for (const std::size_t body : {700u, 9000u, 300000u}) {
      const std::string text =
          "POST / HTTP/1.1\r\nHost: h\r\nInference-Header-Content-Length: " + std::to_string(json) +
          "\r\nContent-Length: " + std::to_string(body) + "\r\n\r\n" + std::string(body, 'x');
      auto progress = RequestReader::Progress::kMore;
      for (std::string_view left = text; !left.empty();) {
        const std::span<std::byte> room = reader.space();
        const std::size_t n = std::min(room.size(), left.size());
        std::memcpy(room.data(), left.data(), n);
        left.remove_prefix(n);
        progress = reader.commit(n);
      }
      ASSERT_EQ(progress, RequestReader::Progress::kComplete);
      const std::byte* const tensors = request.body.bytes().data() + json;
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensors) % 64, 0u) << json << " " << body;
      EXPECT_EQ(reader.next(), RequestReader::Progress::kMore);
      EXPECT_TRUE(reader.idle());
    }
  }
}

TEST(RequestReaderTest, AnnouncedLengthAloneCostsLittle) {
  BodyPool pool;
  HttpRequest request;
  const ReadLimits limits{4096, std::size_t{1} << 40, ""};
  RequestReader reader(pool, limits, request);
  const std::string head = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000000000\r\n\r\n";
  std::memcpy(reader.space().data(), head.data(), head.size());
  EXPECT_EQ(reader.commit(head.size()), RequestReader::Progress::kMore);
  EXPECT_LE(reader.space().size(), std::size_t{1} << 20);
}

TEST(RequestReaderTest, ManyTinyChunksAreRefused) {
  std::string text = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
  const std::string_view chunk = "1\r\nx\r\n";
  for (int i = 0; i < 65536; ++i) text += chunk;
  const auto all_at_once = [] { return std::size_t{1} << 20; };
  EXPECT_EQ(read_all(text + "0\r\n\r\n", all_at_once).back().substr(0, 6), "POST /");
  EXPECT_EQ(read_all(text + "1\r\nx\r\n0\r\n\r\n", all_at_once).back(), "400");
}

TEST(RequestReaderTest, BytesBehindACompleteRequestWait) {
  BodyPool pool;
  HttpRequest request;
  RequestReader reader(pool, kLimits, request);
  const std::string first = "POST /1 HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc";
  const std::string second = "GET /2 HTTP/1.1\r\nHost: h\r\n\r\n";
  std::memcpy(reader.space().data(), first.data(), first.size());
  ASSERT_EQ(reader.commit(first.size()), RequestReader::Progress::kComplete);
  std::memcpy(reader.space().data(), second.data(), 5);
  EXPECT_EQ(reader.commit(5), RequestReader::Progress::kComplete);
  EXPECT_TRUE(reader.space().empty());
  EXPECT_EQ(describe(request), "POST /1|Host=h|Content-Length=3|abc");
  EXPECT_EQ(reader.next(), RequestReader::Progress::kMore);
  std::memcpy(reader.space().data(), second.data() + 5, second.size() - 5);
  ASSERT_EQ(reader.commit(second.size() - 5), RequestReader::Progress::kComplete);
  EXPECT_EQ(describe(request), "GET /2|Host=h|");
  // Room lent before the reply is where the next request arrives after it.
  const std::span<std::byte> lent = reader.space();
  EXPECT_EQ(reader.next(), RequestReader::Progress::kMore);
  std::memcpy(lent.data(), first.data(), first.size());
  ASSERT_EQ(reader.commit(first.size()), RequestReader::Progress::kComplete);
  EXPECT_EQ(describe(request), "POST /1|Host=h|Content-Length=3|abc");
}

}  // namespace
}  // namespace tauto::net
