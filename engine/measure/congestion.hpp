// Single half round trips, quiet and under load.
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

/// Nearest rank: the smallest value that at least this share of the values does not exceed.
/// `values` must not be empty.
Quantiles quantiles_of(std::vector<double> values);

struct Congestion {
  Quantiles quiet;
  Quantiles loaded;
  /// of the loaded phase, in ticks of the given clock; the values of blocks are those of `estimate`
  Samples samples;
  ///< of half round trips
};

/// Both phases stay within the budget: three tenths of it quiet, the rest loaded; at most
/// `most_round_trips` of each pair.
Congestion measure_congestion(const Phases& phases, const Point& point, const Policy& policy,
                              const ClockFacts& clock);

/// Recorded for each pair in one phase: 32768, fewer if more than eight pairs are watched.
std::size_t most_round_trips(int pairs);

}  // namespace wireproof
