// Half round trips one by one, quiet and under load.
#pragma once

#include <optional>
#include <vector>

#include "measure/outcome.hpp"
#include "measure/phases.hpp"
#include "plan/plan.hpp"

namespace wireproof {

/// Of single half round trips, in ns.
struct Quantiles {
  std::size_t samples = 0;
  double p50_ns = 0;
  double p95_ns = 0;
  double p99_ns = 0;
  double max_ns = 0;
};

/// Nearest rank: the smallest value that at least that share of them does not exceed. `values` must
/// not be empty.
Quantiles quantiles_of(std::vector<double> values);

struct Congestion {
  Quantiles quiet;
  Quantiles loaded;
  Samples samples;  ///< of the loaded phase; ticks are of the given clock; a block's value is that
                    ///< of half round trips
};

/// Both phases within the budget: three tenths of it quiet, the rest loaded; at most
/// `most_round_trips` of each pair.
Congestion measure_congestion(const Phases& phases, const Point& point, const Policy& policy,
                              const ClockFacts& clock);

/// Recorded of each pair in one phase: 32768, fewer where more than eight pairs are watched.
std::size_t most_round_trips(int pairs);

}  // namespace wireproof
