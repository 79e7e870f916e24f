#pragma once
// What the load generator keeps of each request: raw, 32 bytes, in the order in which they ended.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tauto::lab {

enum class Outcome : std::uint8_t {
  kOk,              // a whole reply with a status from 200 to 399
  kStatus,          // a whole reply with another status
  kTimeout,         // no whole reply within the time limit, counted from the intended start
  kConnectRefused,  // nobody listens
  kConnectFailed,   // unreachable, out of ports or descriptors
  kClosed,          // closed or reset before the reply was whole
  kMalformed,       // not HTTP/1.1
  kAborted,         // still under way when the user insisted on stopping; counted nowhere
};

/// Times are nanoseconds since the run began.
struct Sample {
  static constexpr std::uint32_t kNoStages = ~std::uint32_t{0};
  static constexpr std::uint8_t kNewConnection = 1;  // it had to wait for a connection to be made
  static constexpr std::uint8_t kResent = 2;         // an idle connection had gone away
  static constexpr std::uint8_t kUnsent = 4;         // it ended before it could be sent
  static constexpr std::uint8_t kCapped = 8;         // it waited for a free connection

  std::int64_t intended_ns;
  std::int64_t sent_ns;  // first byte handed to the kernel; = done_ns when kUnsent
  std::int64_t done_ns;  // last byte of the reply read, or given up
  std::uint32_t stages;  // row in StageLog, or kNoStages
  std::uint16_t status;  // HTTP status, 0 without a reply
  Outcome outcome;
  std::uint8_t flags;

  std::int64_t latency_ns() const { return done_ns - intended_ns; }
  std::int64_t service_ns() const { return done_ns - sent_ns; }
  std::int64_t lag_ns() const { return sent_ns - intended_ns; }
  bool has(std::uint8_t flag) const { return (flags & flag) != 0; }
};
static_assert(sizeof(Sample) == 32);

/// Grows by blocks, so that the hot path neither copies nor allocates for most requests.
template <class T>
class BlockLog {
 public:
  static constexpr std::size_t kBlock = 16 * 1024;

  void push_back(const T& item) {
    if (size_ == blocks_.size() * kBlock) blocks_.push_back(std::make_unique<T[]>(kBlock));
    blocks_[size_ / kBlock][size_ % kBlock] = item;
    ++size_;
  }
  std::size_t size() const { return size_; }
  const T& operator[](std::size_t i) const { return blocks_[i / kBlock][i % kBlock]; }

 private:
  std::vector<std::unique_ptr<T[]>> blocks_;
  std::size_t size_ = 0;
};

/// The server's account of one request, milliseconds by column of StageLog; NaN where it is silent.
inline constexpr std::size_t kStageColumnCount = 16;
using StageRow = std::array<float, kStageColumnCount>;

}  // namespace tauto::lab
