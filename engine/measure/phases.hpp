// How measurements with several phases command their group: member 0's side.
#pragma once

#include <functional>
#include <vector>

#include "measure/sampler.hpp"
#include "pattern/group/shape.hpp"

namespace wireproof {

struct Phases {
  /// Moves all members to this phase from the next segment on; a computation then lasts
  /// `compute_ns`.
  std::function<void(Phase, double compute_ns)> enter;
  /// One segment, whose operations are counted; for a batch, the slowest member's time. Ticks are
  /// of `clock`.
  std::function<Timing(const Segment&, bool counted)> time;
  /// Since the point began.
  std::function<double()> elapsed_ns;
  /// Congestion: the counted round trips since the last call in ns, `each` of every watched pair,
  /// pair by pair.
  std::function<std::vector<double>(std::size_t each)> collect;
};

}  // namespace wireproof
