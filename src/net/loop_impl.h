#pragma once
// The inside of a Loop, for the .cc files of net/ that start Asio operations on it.

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "net/body_pool.h"
#include "net/loop.h"

namespace tauto::net {

/// Blocks for Asio's operation objects: one size, kept forever. Asio's own cache dies with each
/// run_one(), so that without this every read would cost a malloc. Loop thread only.
class HandlerPool {
 public:
  HandlerPool() = default;
  HandlerPool(const HandlerPool&) = delete;
  HandlerPool& operator=(const HandlerPool&) = delete;
  ~HandlerPool() {
    while (free_ != nullptr) ::operator delete(pop());
  }
  void* allocate(std::size_t bytes) {
    if (bytes > kBlockBytes) return ::operator new(bytes);
    return free_ != nullptr ? pop() : ::operator new(kBlockBytes);
  }
  void deallocate(void* memory, std::size_t bytes) {
    if (bytes > kBlockBytes) {
      ::operator delete(memory);
      return;
    }
    free_ = new (memory) Free{free_};
  }

 private:
  static constexpr std::size_t kBlockBytes = 256;
  struct Free {
    Free* next;
  };
  void* pop() {
    Free* const first = free_;
    free_ = first->next;
    return first;
  }
  Free* free_ = nullptr;
};

/// The allocator that Asio asks for an operation's memory.
template <class T>
struct HandlerAllocator {
  using value_type = T;
  HandlerPool* pool;

  explicit HandlerAllocator(HandlerPool& p) : pool(&p) {}
  template <class U>
  HandlerAllocator(const HandlerAllocator<U>& other) : pool(other.pool) {}
  T* allocate(std::size_t n) { return static_cast<T*>(pool->allocate(n * sizeof(T))); }
  void deallocate(T* memory, std::size_t n) { pool->deallocate(memory, n * sizeof(T)); }
  template <class U>
  bool operator==(const HandlerAllocator<U>& other) const {
    return pool == other.pool;
  }
};

struct Loop::Impl {
  struct Message {
    Function fn;
    void* arg;
  };
  struct Appointment {
    Instant at;
    std::uint64_t order;
    std::function<void()> fn;
  };
  struct Wake;

  explicit Impl(const TimeSource& source);
  ~Impl();
  void post(Message message);
  void run_posted();
  void run_drained();
  void add_appointment(Instant at, std::function<void()> fn);
  void run_appointments();

  const TimeSource& time;
  HandlerPool handlers;  // before `context`: operations that never ran give their memory back
  BodyPool bodies;       // shared by all servers on this loop
  // Locks of single sockets are left out: they are touched by the loop thread alone. The queue of
  // ready work keeps its lock, since any thread may post.
  boost::asio::io_context context;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work;
  std::atomic<std::thread::id> thread{};
  std::atomic<bool> stopping{false};

  Mutex posted_mutex;
  std::vector<Message> posted TAUTO_GUARDED_BY(posted_mutex);
  bool waking TAUTO_GUARDED_BY(posted_mutex) = false;  // one Wake is on its way
  std::vector<Message> running;
  alignas(std::max_align_t) std::byte wake_memory[128];  // of the one Wake on its way

  std::vector<Message> to_drain;
  std::vector<Message> draining;

  std::vector<Appointment> appointments;  // heap, earliest first
  std::uint64_t appointments_made = 0;
  std::optional<Timer> appointment_timer;
};

}  // namespace tauto::net
