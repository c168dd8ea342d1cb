// The timed loops of collectives. A step is one operation; step and loop are chosen before the
// timing.
#pragma once

#include "pattern/group/batches.hpp"
#include "pattern/group/computation.hpp"
#include "pattern/group/shape.hpp"
#include "transport/collective_concept.hpp"

namespace wireproof {

template <class Call>
struct BlockingStep {
  template <class L>
  [[gnu::always_inline]] static void run(L& link, const Buffers& b, const GroupShape& s,
                                         const Computation&) {
    Call::call(link, b, s);
  }
};

template <class Call>
struct StartedStep {
  template <class L>
  [[gnu::always_inline]] static void run(L& link, const Buffers& b, const GroupShape& s,
                                         const Computation&) {
    Call::start(link, b, s);
    link.finish(0);
  }
};

/// The work that is done while the operation is in progress.
template <class Call>
struct OverlappedStep {
  template <class L>
  [[gnu::always_inline]] static void run(L& link, const Buffers& b, const GroupShape& s,
                                         const Computation& work) {
    Call::start(link, b, s);
    compute(link, work);
    link.finish(0);
  }
};

struct ComputingStep {
  template <class L>
  [[gnu::always_inline]] static void run(L& link, const Buffers&, const GroupShape&,
                                         const Computation& work) {
    compute(link, work);
  }
};

/// One operation after another; the clock is read at the edges of batches.
template <CollectiveLink L, class C, class Step>
struct OneAfterAnother {
  static constexpr bool kSums = false;

  [[gnu::noinline]] static Ticks run(L& link, C clock, const Buffers& b, const GroupShape& s,
                                     const Segment& segment, const Computation& work,
                                     Ticks* stamps) {
    const auto advance = [&](std::uint64_t count) __attribute__((always_inline)) {
      for (std::uint64_t i = 0; i < count; ++i) Step::run(link, b, s, work);
    };
    return time_batches(link, clock, segment, stamps, advance, [] {});
  }
};

/// The clock is read around every single operation; `kMeet`: all meet before each, which is not
/// timed.
template <CollectiveLink L, class C, class Step, bool kMeet>
struct EachTimed {
  static constexpr bool kSums = true;

  [[gnu::noinline]] static Ticks run(L& link, C clock, const Buffers& b, const GroupShape& s,
                                     const Segment& segment, const Computation& work, Ticks* sums) {
    link.barrier();
    const auto advance = [&](std::uint64_t count) __attribute__((always_inline)) {
      Ticks sum = 0;
      for (std::uint64_t i = 0; i < count; ++i) {
        if constexpr (kMeet) link.barrier();
        const Ticks start = clock.now();
        Step::run(link, b, s, work);
        sum += clock.now() - start;
      }
      return sum;
    };
    advance(segment.lead_in);
    Ticks all = 0;
    for (std::uint32_t batch = 0; batch < segment.batches; ++batch) {
      sums[batch] = advance(segment.granules);
      all += sums[batch];
    }
    advance(segment.trail);
    return all;
  }
};

}  // namespace wireproof
