#include "measure/formula.hpp"

#include <algorithm>
#include <numeric>

namespace wireproof {
namespace {

constexpr std::size_t kOsuLarge = 8192;
constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr double kImbLongestNs = 10e9;
constexpr std::uint64_t kMostBatches = 200;
constexpr std::uint64_t kLeastBatches = 20;  // they are divided into this many blocks
constexpr double kBatchNs = 50e3;  // the suites read no clock in between; this costs < 0.1 %

struct Count {
  std::uint64_t warm_up;
  std::uint64_t timed;
};

Count osu_count(const Point& point) {
  if (point.pattern == Pattern::message_rate) return {10, 100};  // for all sizes, in 7.x
  const bool large = point.message_bytes > kOsuLarge;
  if (is_collective(point.pattern)) return large ? Count{10, 100} : Count{100, 1000};
  if (point.form == Form::latency) return large ? Count{10, 1000} : Count{100, 10'000};
  return large ? Count{2, 20} : Count{10, 100};
}

/// Before each size comes a probing pass as long as the timed pass, then a tenth of it, at least 10
/// if that many are timed. The probing pass also runs with `-iter N -iter_policy off` (2021.18: 210
/// windows for N = 100).
Count with_imb_mpi1_warm_up(std::uint64_t timed) {
  return {timed + std::max(timed / 10, std::min<std::uint64_t>(10, timed)), timed};
}

Count imb_mpi1_count(const Point& point, double granule_ns) {
  const std::size_t bytes = std::max<std::size_t>(1, point.message_bytes);
  const std::uint64_t by_volume = std::max<std::uint64_t>(1, 40 * kMiB / bytes);
  const auto by_time = static_cast<std::uint64_t>(std::max(1.0, kImbLongestNs / granule_ns));
  const std::uint64_t n = std::min({std::uint64_t{1000}, by_volume, by_time});
  return with_imb_mpi1_warm_up(n);
}

Count imb_p2p_count(const Point& point) {
  const std::size_t bytes = std::max<std::size_t>(1, point.message_bytes);
  const std::uint64_t n = std::clamp<std::uint64_t>(800 * kMiB / bytes, 1, 100'000);
  return {n / 10, n};
}

Count suite_count(const Point& point, double granule_ns) {
  if (point.formula == Formula::osu) {
    const auto threads = static_cast<std::uint64_t>(point.threads);  // they share the count
    const Count count = osu_count(point);
    return {std::max<std::uint64_t>(1, count.warm_up / threads), count.timed / threads};
  }
  if (point.formula == Formula::imb_mpi1) return imb_mpi1_count(point, granule_ns);
  return imb_p2p_count(point);
}

}  // namespace

FormulaCount formula_count(const Point& point, int granule, double granule_ns) {
  Count count = suite_count(point, std::max(granule_ns, 1.0));
  if (point.iterations > 0) {
    const auto wanted = static_cast<std::uint64_t>(point.iterations);
    const auto timed = std::max<std::uint64_t>(1, wanted / static_cast<std::uint64_t>(granule));
    count = point.formula == Formula::imb_mpi1
                ? with_imb_mpi1_warm_up(timed)
                : Count{std::min(count.warm_up, std::max<std::uint64_t>(1, timed / 10)), timed};
  }
  const double fitting = static_cast<double>(count.timed) * granule_ns / kBatchNs;
  std::uint64_t batches =
      std::min(count.timed,
               static_cast<std::uint64_t>(std::clamp(fitting, static_cast<double>(kLeastBatches),
                                                     static_cast<double>(kMostBatches))));
  while (count.timed % batches != 0) --batches;
  return {static_cast<std::uint32_t>(count.warm_up), static_cast<std::uint32_t>(batches),
          static_cast<std::uint32_t>(count.timed / batches)};
}

double formula_value_ns(const PairOutcome& outcome, const Point& point) {
  const Ticks ticks =
      std::accumulate(outcome.batch_ticks.begin(), outcome.batch_ticks.end(), Ticks{0});
  double total_ns = static_cast<double>(ticks) * outcome.ns_per_tick;
  const double other_ns = outcome.target_elapsed_ns.value_or(total_ns);
  if (point.formula == Formula::imb_mpi1) total_ns = std::max(total_ns, other_ns);
  if (point.formula == Formula::imb_p2p) total_ns = (total_ns + other_ns) / 2;
  const double operations = static_cast<double>(outcome.batch_ticks.size()) *
                            static_cast<double>(outcome.operations_per_batch);
  return total_ns / operations * operations_per_estimate(point);
}

}  // namespace wireproof
