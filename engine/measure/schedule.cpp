#include "measure/schedule.hpp"

#include <algorithm>
#include <cmath>

namespace wireproof {
namespace {

constexpr double kShortestBatchNs = 2'000;
constexpr double kQuanta = 200;
constexpr double kClockShare = 0.001;
constexpr double kBlocksInMaxBatches = 64;  // an interval of 2 % may need this many
constexpr double kBriskNs = 100'000;
constexpr double kSegmentShare = 0.25;   // of a block
constexpr std::size_t kLeastBlocks = 6;  // fewer blocks have no 95 % interval

std::uint32_t at_least_one(double count) {
  return static_cast<std::uint32_t>(std::clamp(count, 1.0, 1e9));
}

}  // namespace

double shortest_batch_ns(const ClockFacts& clock, const Policy& policy) {
  const double spread = 1e3 * policy.block_us * kBlocksInMaxBatches / policy.max_batches;
  return std::max({kShortestBatchNs, kQuanta * clock.quantum_ns, clock.read_cost_ns / kClockShare,
                   std::min(spread, 1e3 * policy.block_us)});
}

Cutting cut(double granule_ns, const ClockFacts& clock, const Policy& policy, bool pipelined) {
  const double block_ns = 1e3 * policy.block_us;
  const double granule = std::max(granule_ns, 1e-3);
  Cutting c;
  c.granules = at_least_one(std::ceil(shortest_batch_ns(clock, policy) / granule));
  // The acknowledgements of both halves may arrive together, so a batch is whole windows.
  if (pipelined) c.granules += c.granules % 2;
  const double batch_ns = granule * c.granules;
  c.slow = batch_ns > block_ns / 2;
  c.batches_per_block = c.slow ? 1 : at_least_one(std::round(block_ns / batch_ns));
  c.brisk = granule < kBriskNs;
  // If the pipe is filled and emptied for each segment, a segment of a few operations is not
  // worthwhile.
  const double share = pipelined && !c.brisk ? 1 : kSegmentShare;
  c.batches_per_segment = std::min(c.batches_per_block, at_least_one(share * block_ns / batch_ns));
  return c;
}

Segment make_segment(const Cutting& cutting, std::uint32_t batches, bool pipelined) {
  Segment s;
  s.batches = batches;
  s.granules = cutting.granules;
  // from an empty to an empty pipe: all of a few long operations counts
  if (cutting.slow) return s;
  s.lead_in = cutting.brisk ? 2 : 1;
  s.trail = pipelined ? 1 : 0;
  return s;
}

Stop StopRule::decide(const Progress& progress, const Estimate& estimate) const {
  if (iterations > 0) {
    return progress.operations >= iterations ? Stop::iterations : Stop::none;
  }
  const bool enough = progress.blocks >= min_blocks && progress.operations >= least_operations;
  if (enough && estimate.interval_exists && estimate.half_width <= target) {
    return Stop::precision;
  }
  if (progress.elapsed_ns >= budget_ns || progress.batches >= max_batches) return Stop::budget;
  return Stop::none;
}

double target_half_width(const Point& point, const Policy& policy) {
  return point.form == Form::latency ? policy.latency_half_width : policy.bandwidth_half_width;
}

StopRule stop_rule(const Point& point, const Policy& policy, bool slow) {
  StopRule rule;
  rule.target = target_half_width(point, policy);
  const auto least = static_cast<std::size_t>(policy.min_blocks);
  rule.min_blocks = slow ? kLeastBlocks : std::max(least, kLeastBlocks);
  rule.max_batches = static_cast<std::size_t>(policy.max_batches);
  rule.budget_ns = 1e6 * point.budget_ms.value_or(policy.point_budget_ms);
  rule.iterations = static_cast<std::uint64_t>(point.iterations);
  rule.least_operations = static_cast<std::uint64_t>(point.least_operations);
  return rule;
}

}  // namespace wireproof
