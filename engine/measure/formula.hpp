// Iteration counts and values of the suites whose numbers can be reproduced (OSU 7.4, IMB 2021.11,
// taken from their definitions).
#pragma once

#include <cstdint>

#include "measure/outcome.hpp"
#include "plan/plan.hpp"

namespace wireproof {

/// Granules (round trips, windows) before the timed part and in it.
struct FormulaCount {
  std::uint32_t warm_up = 0;
  std::uint32_t batches = 1;
  std::uint32_t granules = 1;  ///< per batch; batches * granules is the suite's count
};

constexpr std::uint32_t kFormulaBlocks = 20;

/// `granule_ns` is the probed time of one granule (IMB limits a sample to 10 s); point.iterations
/// overrides the count.
FormulaCount formula_count(const Point& point, int granule, double granule_ns);

/// Time per operation (pingpong: per half round trip) as the suite computes it: OSU: the origin's
/// sum; IMB-MPI1: the slower of the two ranks; IMB-P2P: the mean of the two ranks.
double formula_value_ns(const PairOutcome& outcome, const Point& point);

}  // namespace wireproof
