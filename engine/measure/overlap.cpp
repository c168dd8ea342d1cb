#include "measure/overlap.hpp"

#include <algorithm>

#include "measure/schedule.hpp"
#include "measure/statistics.hpp"

namespace wireproof {
namespace {

constexpr std::size_t kLeastRounds = 3;
constexpr std::size_t kMostRounds = 40;

double per_operation(const Timing& timing, const Segment& segment, const ClockFacts& clock) {
  const std::vector<double> batches(timing.batches.begin(), timing.batches.end());
  return median_of(batches) * clock.ns_per_tick / segment.granules;
}

}  // namespace

double overlap_share(double pure_ns, double compute_ns, double total_ns) {
  const double shorter = std::min(pure_ns, compute_ns);
  if (shorter <= 0) return 0;
  return std::clamp((pure_ns + compute_ns - total_ns) / shorter, 0.0, 1.0);
}

Overlap measure_overlap(const Phases& phases, double pure_ns, const ClockFacts& clock,
                        const Policy& policy, double budget_ns) {
  const Cutting cutting = cut(pure_ns, clock, policy, false);
  const Segment segment = make_segment(cutting, cutting.batches_per_segment, false);
  phases.enter(Phase::computing, pure_ns);  // calibrates, at every member
  std::vector<double> pure;
  std::vector<double> computing;
  std::vector<double> total;
  const auto one = [&](Phase phase, std::vector<double>& values) {
    phases.enter(phase, pure_ns);
    values.push_back(per_operation(phases.time(segment, false), segment, clock));
  };
  do {
    one(Phase::plain, pure);
    one(Phase::computing, computing);
    one(Phase::overlapped, total);
  } while (pure.size() < kLeastRounds ||
           (pure.size() < kMostRounds && phases.elapsed_ns() < budget_ns));
  phases.enter(Phase::plain, 0);
  const Overlap found{median_of(pure), median_of(computing), median_of(total), 0};
  return {found.pure_ns, found.compute_ns, found.total_ns,
          overlap_share(found.pure_ns, found.compute_ns, found.total_ns)};
}

}  // namespace wireproof
