// The clock of a simulated end: virtual time, with the plan's noise applied when it is read.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/clock.hpp"
#include "plan/plan.hpp"

namespace wireproof {

class ModelClock {
 public:
  ModelClock(const ModelWorld& world, std::uint64_t seed) : world_(&world), random_(seed) {}

  /// Picoseconds shown at virtual time `now_ns`: the time since the last reading is multiplied by 1
  /// + noise * z (z normal, seeded), and by 20 with the probability `stall`.
  Ticks read(double now_ns);
  static const ClockFacts& facts();

 private:
  double normal();
  double uniform();

  const ModelWorld* world_;
  double read_at_ns_ = 0;  // virtual time of the last reading
  double shown_ns_ = 0;    // what it showed
  std::uint64_t random_;
};

/// The time for which a message occupies the wire or a port: gap * s, plus the handshake above the
/// eager limit.
double occupancy_ns(const ModelWorld& world, std::size_t bytes, double gap_ns_per_byte);

}  // namespace wireproof
