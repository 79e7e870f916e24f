// Mistakes that must not compile. Without MISTAKE the whole file compiles, which shows that each
// mistake fails for its own reason.

#include "base/result.h"
#include "base/time.h"
#include "core/ids.h"
#include "sched/events.h"

namespace tauto {

using namespace std::chrono_literals;

inline Result<int> parse() { return 1; }

#if MISTAKE == 1  // 5 what?
inline constexpr sched::ModelSettings kSettings{.rows_max = 8, .hold_max = 5};
#else
inline constexpr Duration kHold = 5ms;
#endif

#if MISTAKE == 2  // the number of seconds since when?
inline Instant moment() { return std::chrono::steady_clock::now(); }
#else
inline Instant moment() { return instant_at_ns(0); }
#endif

#if MISTAKE == 3  // a batch is no request
inline sched::Cancel cancel(BatchId id) { return {id}; }
#else
inline sched::Cancel cancel(RequestId id) { return {id}; }
#endif

#if MISTAKE == 4  // nobody looked whether it worked
inline void ignore() { parse(); }
#else
inline bool ignore() { return parse().ok(); }
#endif

#if MISTAKE == 5  // a moment is no length
inline Duration half(Instant now) { return now / 2; }
#else
inline Duration half(Duration length) { return length / 2; }
#endif

#if MISTAKE == 6  // ids are not for arithmetic
inline RequestId next(RequestId id) { return id + 1; }
#else
inline RequestId next(RequestId id) { return RequestId{id.value + 1}; }
#endif

}  // namespace tauto
