#pragma once
// Journeys are always on. This switch exists only to measure what they cost: a build with
// -DTAUTO_BENCH_WITHOUT_JOURNEYS=ON stamps and counts nothing in serve/; compare the two with
// bench/overhead.py.

namespace tauto::serve {

#ifdef TAUTO_BENCH_WITHOUT_JOURNEYS
inline constexpr bool kJourneys = false;
#else
inline constexpr bool kJourneys = true;
#endif

}  // namespace tauto::serve
