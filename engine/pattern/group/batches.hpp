// The frame of the timed loops of group patterns.
#pragma once

#include "base/clock.hpp"
#include "pattern/shape.hpp"

namespace wireproof {

/// Meet, `begin()` (posts ahead, if the pattern keeps a pipe full), lead in, time the batches edge
/// to edge, trail. `advance(granules)` does the work. Returns the elapsed ticks over all batches.
template <class L, class C, class Advance, class Begin>
[[gnu::always_inline]] inline Ticks time_batches(L& link, C clock, const Segment& segment,
                                                 Ticks* stamps, Advance advance, Begin begin) {
  link.barrier();
  const Ticks empty = clock.now();
  begin();
  advance(segment.lead_in);
  const Ticks start = first_edge(segment, empty, clock.now());
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
