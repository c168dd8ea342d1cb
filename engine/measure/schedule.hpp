// How operations are divided into batches, blocks and segments, and when to stop. Pure arithmetic,
// so that it can be tested without a transport.
#pragma once

#include <cstdint>

#include "base/clock.hpp"
#include "measure/statistics.hpp"
#include "pattern/shape.hpp"
#include "plan/plan.hpp"
#include "plan/window.hpp"

namespace wireproof {

/// One batch takes >= 2 us and >= 200 clock quanta, the clock costs < 0.1 % of it, and max_batches
/// such batches fill many blocks.
double shortest_batch_ns(const ClockFacts& clock, const Policy& policy);

/// The division of a point, fixed after the warm-up.
struct Cutting {
  std::uint32_t granules = 1;  ///< per batch
  std::uint32_t batches_per_block = 1;
  std::uint32_t batches_per_segment = 1;  ///< the time limit is checked between segments
  bool slow = false;  ///< one batch fills a block, so blocks are timed without a pause
                      ///< between them
  bool brisk = true;  ///< operations are so short that lead-in and trail cost nothing
};
Cutting cut(double granule_ns, const ClockFacts& clock, const Policy& policy, bool pipelined);

/// Lead-in and trail of one segment. `pipelined`: more messages than those of a batch are in flight
/// at its edges: the same number at the first edge as at the last, or none at both.
Segment make_segment(const Cutting& cutting, std::uint32_t batches, bool pipelined);

enum class Stop { none, precision, budget, iterations };

/// State after a block (or after a segment of slow blocks).
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
