#include "measure/congestion.hpp"

#include <algorithm>
#include <cmath>

#include "measure/statistics.hpp"

namespace wireproof {
namespace {

constexpr double kQuietShare = 0.3;   // of the budget
constexpr double kWarmUpShare = 0.2;  // of a phase, at most
constexpr double kSegmentShare = 0.125;
constexpr double kLongestGrowth = 8;  // growth limit of a segment relative to the previous one
constexpr double kAgreement = 0.01;
constexpr std::size_t kMostOfEach = 32'768;
constexpr std::size_t kMostOfAll = 262'144;
constexpr std::size_t kLeast = 6;  // fewer blocks have no 95 % interval
constexpr std::size_t kMostBlocks = 64;
constexpr std::uint32_t kLeadIn = 2;
constexpr double kOvershoot = 2;

class PhaseSampler {
 public:
  PhaseSampler(const Phases& phases, const Point& point, const Policy& policy,
               const ClockFacts& clock, double until_ns)
      : phases_(phases),
        policy_(policy),
        clock_(clock),
        until_ns_(until_ns),
        share_ns_(std::max(0.0, until_ns - phases.elapsed_ns())),
        most_(most_round_trips(point.watched_pairs)) {
    if (point.iterations > 0) {
      iterations_ = true;
      most_ = std::min(most_, static_cast<std::size_t>(point.iterations));
    }
  }

  /// Recorded round trips of every pair.
  std::size_t run(WarmUp& warm_up) {
    warm_up_until_steady(warm_up);
    std::size_t recorded = 0;
    while (recorded < most_ && (iterations_ || time_is_left(recorded))) {
      const double aim = std::max(1.0, kSegmentShare * share_ns_ / round_trip_ns_);
      const double wanted =
          std::min({aim, kLongestGrowth * last_, static_cast<double>(most_ - recorded)});
      time(static_cast<std::uint32_t>(std::max(1.0, wanted)), true);
      recorded += static_cast<std::size_t>(last_);
    }
    return recorded;
  }
  Stop stop() const {
    return iterations_ || phases_.elapsed_ns() < until_ns_ ? Stop::iterations : Stop::budget;
  }

 private:
  bool time_is_left(std::size_t recorded) const {
    const double limit = recorded < kLeast ? share_ns_ * (kOvershoot - 1) : 0;
    return recorded == 0 || phases_.elapsed_ns() < until_ns_ + limit;
  }

  void time(std::uint32_t round_trips, bool counted) {
    const Segment segment{.lead_in = kLeadIn, .batches = 1, .granules = round_trips};
    const double ns =
        static_cast<double>(phases_.time(segment, counted).batches[0]) * clock_.ns_per_tick;
    round_trip_ns_ = std::max(ns / round_trips, 1e-3);
    last_ = round_trips;
  }

  /// Doubles until the segment lasts long enough and two in a row agree, or a fifth of the phase is
  /// over.
  void warm_up_until_steady(WarmUp& warm_up) {
    const double began = phases_.elapsed_ns();
    std::uint64_t operations = 0;
    for (double before = 0;; before = round_trip_ns_) {
      time(static_cast<std::uint32_t>(
               std::min(2 * last_, double(policy_.warmup_min_operations) + 1)),
           false);
      operations += static_cast<std::uint64_t>(last_) + kLeadIn;
      const double elapsed = phases_.elapsed_ns() - began;
      const bool enough = operations >= static_cast<std::uint64_t>(policy_.warmup_min_operations) ||
                          elapsed >= 1e3 * policy_.warmup_min_us;
      warm_up.stationary = std::abs(round_trip_ns_ - before) <= kAgreement * round_trip_ns_;
      if ((enough && warm_up.stationary) || elapsed >= kWarmUpShare * share_ns_) break;
    }
    warm_up.operations += operations;
    warm_up.elapsed_ns = phases_.elapsed_ns();
  }

  const Phases& phases_;
  const Policy& policy_;
  const ClockFacts& clock_;
  double until_ns_;
  double share_ns_;
  std::size_t most_;
  bool iterations_ = false;
  double last_ = 1;  // round trips of the last segment
  double round_trip_ns_ = 1;
};

/// Divides the round trips of every pair into the same blocks. A block's value is the median over
/// all pairs in it; its batch is the sum of the slowest pair.
Samples blocks_of(const std::vector<double>& round_trips_ns, std::size_t each,
                  const ClockFacts& clock) {
  const std::size_t count = std::clamp<std::size_t>(each / 8, std::min(each, kLeast), kMostBlocks);
  const std::size_t length = each / count;
  Samples found;
  found.operations_per_batch = length;
  for (std::size_t block = 0; block < count; ++block) {
    std::vector<double> values;
    double slowest = 0;
    for (std::size_t first = block * length; first < round_trips_ns.size(); first += each) {
      double sum = 0;
      for (std::size_t i = first; i < first + length; ++i) {
        values.push_back(round_trips_ns[i]);
        sum += round_trips_ns[i];
      }
      slowest = std::max(slowest, sum);
    }
    found.batch_ticks.push_back(static_cast<Ticks>(std::llround(slowest / clock.ns_per_tick)));
    found.block_batches.push_back(1);
    found.block_values.push_back(median_of(std::move(values)) / 2 * static_cast<double>(length) /
                                 clock.ns_per_tick);
  }
  return found;
}

Quantiles half_of(std::vector<double> round_trips_ns) {
  for (double& ns : round_trips_ns) ns /= 2;
  return quantiles_of(std::move(round_trips_ns));
}

}  // namespace

std::size_t most_round_trips(int pairs) {
  return std::max<std::size_t>(
      kLeast, std::min(kMostOfEach, kMostOfAll / static_cast<std::size_t>(std::max(1, pairs))));
}

Quantiles quantiles_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) {
    const auto rank =
        static_cast<std::size_t>(std::ceil(share * static_cast<double>(values.size())));
    return values[std::clamp<std::size_t>(rank, 1, values.size()) - 1];
  };
  return {values.size(), at(0.5), at(0.95), at(0.99), values.back()};
}

Congestion measure_congestion(const Phases& phases, const Point& point, const Policy& policy,
                              const ClockFacts& clock) {
  const double budget_ns = 1e6 * point.budget_ms.value_or(policy.point_budget_ms);
  Congestion found;
  WarmUp warm_up;
  phases.enter(Phase::plain, 0);
  PhaseSampler quiet(phases, point, policy, clock, kQuietShare * budget_ns);
  found.quiet = half_of(phases.collect(quiet.run(warm_up)));
  phases.enter(Phase::loaded, 0);
  PhaseSampler loaded(phases, point, policy, clock, budget_ns);
  const std::size_t each = loaded.run(warm_up);
  const std::vector<double> round_trips_ns = phases.collect(each);
  found.loaded = half_of(round_trips_ns);
  found.samples = blocks_of(round_trips_ns, each, clock);
  found.samples.stop = loaded.stop();
  found.samples.warm_up = warm_up;
  found.samples.counted_operations = each;
  return found;
}

}  // namespace wireproof
