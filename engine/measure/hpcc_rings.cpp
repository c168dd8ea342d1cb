#include "measure/hpcc_rings.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace wireproof {
namespace {

constexpr std::size_t kLarge = std::size_t{64} << 10;
constexpr double kShortestClockNs = 1e3;   // HPCC trusts no clock below 1 us
constexpr double kLongestClockNs = 10e6;   // nor above 10 ms
constexpr double kClocks = 10;             // a loop must last this many
constexpr std::uint32_t kPingPongs = 300;  // about as many as HPCC exchanges before its rings
constexpr std::uint32_t kMostLoops = 1U << 24;
constexpr double kMessages = 2;  // of a member, per operation

std::uint32_t longer(std::uint32_t loop) { return loop == 1 ? 2 : loop + loop / 2; }

/// Repeats until the slowest member's first loop is long enough for the clock. The following rings
/// use the same length.
Timing time_ring(Sampler& sampler, double enough_ns, double ns_per_tick, std::uint32_t& loop) {
  for (;;) {
    // Each of the two loops has one untimed turn.
    const Timing timing =
        sampler.time_segment({.lead_in = 2, .batches = 2, .granules = loop}, true);
    const double first_ns = static_cast<double>(timing.batches[0]) * ns_per_tick;
    if (first_ns >= enough_ns || loop >= kMostLoops) return timing;
    loop = longer(loop);
  }
}

double geometric_mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += std::log(value);
  return std::exp(sum / static_cast<double>(values.size()));
}

}  // namespace

HpccRecipe hpcc_recipe(const Point& point) {
  const bool random = point.order == RingOrder::random;
  if (point.message_bytes < kLarge) return {random ? 30 : 1, 8, 5};
  return {random ? 10 : 1, 3, 2};
}

double sample_hpcc_rings(Sampler& sampler, const Point& point, const ClockFacts& clock,
                         const std::function<void(int)>& turn_to) {
  const HpccRecipe recipe = hpcc_recipe(point);
  const double enough_ns =
      kClocks * std::clamp(clock.quantum_ns, kShortestClockNs, kLongestClockNs);
  std::uint32_t loop = recipe.loop;
  Samples& samples = sampler.samples();
  if (point.message_bytes < kLarge) {
    sampler.time_segment({.lead_in = 2, .batches = 2, .granules = kPingPongs / 2}, false);
    samples.warm_up = {samples.operations, sampler.elapsed_ns(), false};
  }
  std::vector<double> best(static_cast<std::size_t>(recipe.rings),
                           std::numeric_limits<double>::infinity());
  for (int repetition = 0; repetition < recipe.repetitions; ++repetition) {
    for (int ring = 0; ring < recipe.rings; ++ring) {
      if (point.order == RingOrder::random) turn_to(ring);
      const Timing timing = time_ring(sampler, enough_ns, clock.ns_per_tick, loop);
      const double turn = static_cast<double>(timing.batches[1]) / loop;
      samples.batch_ticks.push_back(static_cast<Ticks>(std::llround(turn)));
      samples.block_batches.push_back(1);
      samples.block_values.push_back(turn);
      double& least = best[static_cast<std::size_t>(ring)];
      least = std::min(least, turn * clock.ns_per_tick / kMessages);
    }
  }
  samples.stop = Stop::iterations;
  return geometric_mean(best);
}

}  // namespace wireproof
