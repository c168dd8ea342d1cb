// Non-blocking collectives: how much of the time another computation could have had.
#pragma once

#include "measure/phases.hpp"
#include "plan/plan.hpp"

namespace wireproof {

/// Times per operation in ns. share = (pure + compute - total) / min(pure, compute), kept within 0
/// and 1 (as IMB-NBC; with a computation as long as the collective OSU's overlap is the same
/// number).
struct Overlap {
  double pure_ns = 0;
  double compute_ns = 0;
  double total_ns = 0;
  double share = 0;
};

double overlap_share(double pure_ns, double compute_ns, double total_ns);

/// The collective alone, a computation as long as it, and both begun together, in turn for what is
/// left of the budget (3 rounds at least): medians over the rounds, so that a drift meets all
/// three.
Overlap measure_overlap(const Phases& phases, double pure_ns, const ClockFacts& clock,
                        const Policy& policy, double budget_ns);

}  // namespace wireproof
