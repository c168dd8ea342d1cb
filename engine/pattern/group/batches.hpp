// The frame of every group pattern's timed loop.
#pragma once

#include "base/clock.hpp"
#include "pattern/shape.hpp"

namespace wireproof {

/// Meet, fill the pipe, time the batches edge to edge, keep the pipe full. `advance(granules)` does
/// the work. Returns the elapsed ticks over all batches.
template <class L, class C, class Advance>
[[gnu::always_inline]] inline Ticks time_batches(L& link, C clock, const Segment& segment,
                                                 Ticks* stamps, Advance advance) {
  link.barrier();
  advance(segment.lead_in);
  const Ticks start = clock.now();
  *stamps = start;
  for (Ticks* const last = stamps + segment.batches; stamps != last;) {
    advance(segment.granules);
    *++stamps = clock.now();
  }
  const Ticks elapsed = *stamps - start;
  advance(segment.trail);
  return elapsed;
}

}  // namespace wireproof
