// How operations are cut into batches, blocks and segments, and when to stop. Pure arithmetic, so
// that it is tested without a transport.
#pragma once

#include <cstdint>

#include "base/clock.hpp"
#include "measure/statistics.hpp"
#include "pattern/shape.hpp"
#include "plan/plan.hpp"
#include "plan/window.hpp"

namespace wireproof {

/// One batch: >= 2 us, >= 200 clock quanta, clock cost < 0.1 %, and long enough that max_batches
/// last for many blocks.
double shortest_batch_ns(const ClockFacts& clock, const Policy& policy);

/// A point's cutting, fixed after the warm-up.
struct Cutting {
  std::uint32_t granules = 1;  ///< per batch
  std::uint32_t batches_per_block = 1;
  std::uint32_t batches_per_segment = 1;  ///< the time cap is looked at between segments
  bool slow = false;  ///< one batch fills a block: blocks are then timed in one go, without a pause
                      ///< between them
  bool brisk = true;  ///< operations so short that lead-in and trail cost nothing
};
Cutting cut(double granule_ns, const ClockFacts& clock, const Policy& policy, bool pipelined);

/// Lead-in and trail of one segment. `pipelined`: more than what a batch has is under way at its
/// edges; as much at the first as at the last one, or nothing at both.
Segment make_segment(const Cutting& cutting, std::uint32_t batches, bool pipelined);

enum class Stop { none, precision, budget, iterations };

/// State after a block (or a segment of slow blocks).
struct Progress {
  std::size_t batches = 0;
  std::size_t blocks = 0;
  std::uint64_t operations = 0;
  double elapsed_ns = 0;  // since the point began, warm-up included
};

struct StopRule {
  double target = 0.02;  ///< relative half-width
  std::size_t min_blocks = 10;
  std::size_t max_batches = 2000;
  double budget_ns = 1e9;
  std::uint64_t iterations = 0;        ///< 0: until the target is reached
  std::uint64_t least_operations = 0;  ///< before the target counts
  Stop decide(const Progress& progress, const Estimate& estimate) const;
};
StopRule stop_rule(const Point& point, const Policy& policy, bool slow);

/// Whether the point is judged as a bandwidth (1 %) or as a latency (2 %).
double target_half_width(const Point& point, const Policy& policy);

}  // namespace wireproof
