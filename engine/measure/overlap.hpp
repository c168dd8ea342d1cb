// Non-blocking collectives: the share of their time that a computation could use.
#pragma once

#include "measure/phases.hpp"
#include "plan/plan.hpp"

namespace wireproof {

/// Times per operation in ns. share = (pure + compute - total) / min(pure, compute), limited to 0
/// to 1 (as in IMB-NBC; if the computation is as long as the collective, OSU's overlap is the same
/// number).
struct Overlap {
  double pure_ns = 0;
  double compute_ns = 0;
  double total_ns = 0;
  double share = 0;
};

double overlap_share(double pure_ns, double compute_ns, double total_ns);

/// Measures the collective alone, a computation of the same length, and both together, in turn for
/// the rest of the budget (at least 3 rounds): medians over the rounds, so that a drift affects all
/// three alike.
Overlap measure_overlap(const Phases& phases, double pure_ns, const ClockFacts& clock,
                        const Policy& policy, double budget_ns);

}  // namespace wireproof
