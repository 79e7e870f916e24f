#include "net/loop.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <utility>

#include "base/check.h"
#include "net/loop_impl.h"

namespace tauto::net {
namespace asio = boost::asio;
namespace {

// Handlers served before the drained functions get their turn even if more is ready: under a flood
// "nothing is ready" may never come true.
constexpr int kDrainHandlersMax = 256;

void call_function(void* arg) {
  const std::unique_ptr<std::function<void()>> fn(static_cast<std::function<void()>*>(arg));
  (*fn)();
}

bool later(const Loop::Impl::Appointment& a, const Loop::Impl::Appointment& b) {
  return a.at != b.at ? a.at > b.at : a.order > b.order;
}

}  // namespace

/// Runs the posted messages. At most one exists, so its memory is a member of the loop and posting
/// from another thread needs no allocator.
struct Loop::Impl::Wake {
  template <class T>
  struct Allocator {
    using value_type = T;
    Impl* impl;
    explicit Allocator(Impl* i) : impl(i) {}
    template <class U>
    Allocator(const Allocator<U>& other) : impl(other.impl) {}
    T* allocate(std::size_t n) {
      TAUTO_CHECK(n * sizeof(T) <= sizeof impl->wake_memory);
      return reinterpret_cast<T*>(impl->wake_memory);
    }
    void deallocate(T*, std::size_t) {}
    template <class U>
    bool operator==(const Allocator<U>& other) const {
      return impl == other.impl;
    }
  };
  using allocator_type = Allocator<void>;
  Impl* impl;
  allocator_type get_allocator() const { return allocator_type(impl); }
  void operator()() const { impl->run_posted(); }
};

Loop::Impl::Impl(const TimeSource& source)
    : time(source), context(BOOST_ASIO_CONCURRENCY_HINT_UNSAFE_IO), work(context.get_executor()) {
  posted.reserve(64);
  running.reserve(64);
  to_drain.reserve(64);
  draining.reserve(64);
}

Loop::Impl::~Impl() {
  appointment_timer.reset();
  const MutexLock lock(posted_mutex);
  for (const Message& message : posted) {
    if (message.fn == &call_function) delete static_cast<std::function<void()>*>(message.arg);
  }
}

void Loop::Impl::post(Message message) {
  {
    const MutexLock lock(posted_mutex);
    posted.push_back(message);
    if (std::exchange(waking, true)) return;
  }
  asio::post(context, Wake{this});
}

void Loop::Impl::run_posted() {
  TAUTO_CHECK(running.empty());  // run_ready() inside a message would run them out of order
  {
    const MutexLock lock(posted_mutex);
    waking = false;
    running.swap(posted);
  }
  for (const Message& message : running) message.fn(message.arg);
  running.clear();
}

void Loop::Impl::run_drained() {
  draining.swap(to_drain);
  for (const Message& message : draining) message.fn(message.arg);
  draining.clear();
}

void Loop::Impl::add_appointment(Instant at, std::function<void()> fn) {
  appointments.push_back({at, appointments_made++, std::move(fn)});
  std::push_heap(appointments.begin(), appointments.end(), later);
  appointment_timer->arm(appointments.front().at);
}

void Loop::Impl::run_appointments() {
  while (!appointments.empty() && appointments.front().at <= time.now()) {
    std::pop_heap(appointments.begin(), appointments.end(), later);
    const std::function<void()> fn = std::move(appointments.back().fn);
    appointments.pop_back();
    fn();
  }
  if (!appointments.empty()) appointment_timer->arm(appointments.front().at);
}

Loop::Loop(const TimeSource& time) : impl_(std::make_unique<Impl>(time)) {
  const Function fire = [](void* impl) { static_cast<Impl*>(impl)->run_appointments(); };
  impl_->appointment_timer.emplace(*this, fire, impl_.get());
}

Loop::~Loop() = default;

void Loop::run() {
  impl_->thread = std::this_thread::get_id();
  while (!impl_->stopping) {
    impl_->context.run_one();
    if (impl_->to_drain.empty()) continue;
    for (int i = 0; i < kDrainHandlersMax && impl_->context.poll_one() != 0; ++i) continue;
    impl_->run_drained();
  }
  impl_->stopping = false;
  impl_->thread = std::thread::id{};
}

void Loop::stop() {
  impl_->stopping = true;
  // Not io_context::stop(), which would also end a later run().
  post([](void*) {}, nullptr);
}

void Loop::run_ready() {
  TAUTO_CHECK(impl_->thread.load() == std::thread::id{});
  impl_->thread = std::this_thread::get_id();
  do {
    while (impl_->context.poll_one() != 0) continue;
    impl_->run_drained();
  } while (!impl_->to_drain.empty());
  impl_->thread = std::thread::id{};
}

void Loop::post(Function fn, void* arg) { impl_->post({fn, arg}); }

void Loop::post(std::function<void()> fn) {
  impl_->post({&call_function, new std::function<void()>(std::move(fn))});
}

void Loop::after_drain(Function fn, void* arg) { impl_->to_drain.push_back({fn, arg}); }

void Loop::call_at(Instant at, std::function<void()> fn) {
  if (in_loop_thread()) {
    impl_->add_appointment(at, std::move(fn));
  } else {
    post([this, at, fn = std::move(fn)]() mutable { impl_->add_appointment(at, std::move(fn)); });
  }
}

bool Loop::in_loop_thread() const {
  return impl_->thread.load(std::memory_order_relaxed) == std::this_thread::get_id();
}

Instant Loop::now() const { return impl_->time.now(); }

const TimeSource& Loop::time() const { return impl_->time; }

struct Timer::Impl {
  /// Asio's handler: keeps the Impl alive until the wait has ended, however it ends.
  struct Wait {
    using allocator_type = HandlerAllocator<void>;
    explicit Wait(Impl* i) : impl(i) { ++impl->uses; }
    Wait(Wait&& other) noexcept : impl(std::exchange(other.impl, nullptr)) {}
    Wait(const Wait&) = delete;
    Wait& operator=(const Wait&) = delete;
    ~Wait() {
      if (impl != nullptr) impl->release();
    }
    allocator_type get_allocator() const { return allocator_type(impl->loop.handlers); }
    void operator()(const boost::system::error_code& error) {
      if (!error) impl->fired();
    }
    Impl* impl;
  };

  Impl(Loop::Impl& l, Loop::Function f, void* a) : loop(l), timer(l.context), fn(f), arg(a) {}
  void release() {
    if (--uses == 0) delete this;
  }
  void wait_until(Instant at) {
    waiting_until = at;
    timer.expires_after(std::max(at - loop.time.now(), Duration::zero()));  // ends an earlier wait
    timer.async_wait(Wait(this));
  }
  void fired() {
    waiting_until.reset();
    if (!target.has_value()) return;
    if (loop.time.now() < *target) return wait_until(*target);
    target.reset();
    fn(arg);
  }

  Loop::Impl& loop;
  asio::basic_waitable_timer<std::chrono::steady_clock,
                             asio::wait_traits<std::chrono::steady_clock>,
                             asio::io_context::executor_type>
      timer;
  Loop::Function fn;
  void* arg;
  int uses = 1;
  std::optional<Instant> target;
  std::optional<Instant> waiting_until;  // what the kernel's timer is set to
};

Timer::Timer(Loop& loop, Loop::Function fn, void* arg) : impl_(new Impl(loop.impl(), fn, arg)) {}

Timer::~Timer() {
  impl_->target.reset();
  impl_->timer.cancel();
  impl_->release();
}

void Timer::arm(Instant at) {
  impl_->target = at;
  // A wait that ends too early is renewed when it fires: deadlines mostly move later.
  if (!impl_->waiting_until.has_value() || at < *impl_->waiting_until) impl_->wait_until(at);
}

void Timer::disarm() { impl_->target.reset(); }

}  // namespace tauto::net
