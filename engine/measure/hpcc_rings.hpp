// HPCC's ring latency and bandwidth (bench_lat_bw 1.5.2), implemented from its definition.
#pragma once

#include <functional>
#include <span>

#include "measure/sampler.hpp"
#include "plan/plan.hpp"

namespace wireproof {

/// Its parameters: for 8 B and, here from 64 KiB on, for 2,000,000 B.
struct HpccRecipe {
  int rings = 1;
  int repetitions = 8;
  std::uint32_t loop = 5;
};
HpccRecipe hpcc_recipe(const Point& point);

/// Runs the recipe. `turn_to(ring)` selects another random ring (not called for the natural order).
/// Leaves one batch of one operation per ring and repetition in the samples; returns the time per
/// message in ns: for each ring the minimum over the repetitions, and the geometric mean over the
/// rings.
double sample_hpcc_rings(Sampler& sampler, const Point& point, const ClockFacts& clock,
                         const std::function<void(int)>& turn_to);

}  // namespace wireproof
