#include "measure/sampler.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "measure/formula.hpp"
#include "measure/statistics.hpp"

namespace wireproof {
namespace {

constexpr std::uint32_t kWindowBatches = 10;  // batches in one warm-up window
constexpr double kAgreement = 0.01;
constexpr double kWarmUpShare = 0.3;         // of the budget, at most
constexpr double kLongestWarmUpFactor = 10;  // times warmup_min_us, for operations that are short
// between warm-up windows; a false agreement on a short one costs little
constexpr double kMostSpeedUp = 8;
// a segment that is this many times slower than expected halves the next
constexpr double kSlowDown = 4;
constexpr double kProbeQuanta = 20;
constexpr std::uint32_t kMostProbed = 1U << 20;
constexpr double kTooFine = 0.25;  // of the shortest batch
constexpr int kMostRecuts = 3;
// maximum share of the budget for slow blocks that are timed without a pause
constexpr double kRunShare = 0.05;
constexpr double kOvershoot =
    2;  // of the budget, only to complete the six blocks that an interval needs

bool agree(double one, double other) { return std::abs(one - other) <= kAgreement * other; }

double median_ticks(std::span<const Ticks> ticks) {
  return median_of(std::vector<double>(ticks.begin(), ticks.end()));
}

double mean_ticks(const Timing& timing) {
  return timing.total_ticks / static_cast<double>(timing.batches.size());
}

template <class Range>
void append(std::vector<Ticks>& all, const Range& more) {
  all.insert(all.end(), more.begin(), more.end());
}

}  // namespace

Sampler::Sampler(Sampled& sampled, const Point& point, const Policy& policy)
    : sampled_(sampled), point_(point), policy_(policy), began_(sampled.now()) {}

double Sampler::budget_ns() const {
  return 1e6 * point_.budget_ms.value_or(policy_.point_budget_ms);
}

double Sampler::elapsed_ns() { return to_ns(static_cast<double>(sampled_.now() - began_)); }

Timing Sampler::time_segment(const Segment& segment, bool counted) {
  const auto granule = static_cast<std::uint64_t>(sampled_.granule());
  samples_.operations += segment.total() * granule;
  if (counted) samples_.counted_operations += segment.timed() * granule;
  return sampled_.time_segment(segment, counted);
}

/// Rough time of one granule; the first is always the slowest (connections, page faults), so the
/// second is used. Doubled until the clock can resolve it. For a pipelined pattern the whole probe
/// is used: data that the system has buffered arrives at once, so a single batch may take no time
/// at all.
double Sampler::first_granule_ns() {
  const bool pipelined = sampled_.pipelined();
  Segment probe{.batches = pipelined ? 1U : 2U};
  for (;;) {
    const Ticks start = sampled_.now();
    const double batch_ns = to_ns(static_cast<double>(time_segment(probe, false).batches.back()));
    const double whole_ns = to_ns(static_cast<double>(sampled_.now() - start));
    const double seen_ns = std::max(pipelined ? whole_ns : batch_ns, 1e-3);
    const bool enough = seen_ns >= kProbeQuanta * sampled_.clock().quantum_ns;
    if (enough || probe.granules >= kMostProbed) {
      return seen_ns / static_cast<double>(pipelined ? probe.total() : probe.granules);
    }
    probe.granules *= 2;
  }
}

/// Time of one granule in ns, measured in one window.
double Sampler::warm_up_window(double granule_ns) {
  const Cutting c = cut(granule_ns, sampled_.clock(), policy_, sampled_.pipelined());
  const double batch_ns = granule_ns * c.granules;
  const double room = std::max(1.0, 1e3 * policy_.warmup_min_us / 4 / batch_ns);
  const std::uint32_t batches =
      c.slow ? 1 : std::min(kWindowBatches, static_cast<std::uint32_t>(room));
  const Segment window = make_segment(c, batches, sampled_.pipelined());
  const Timing timing = time_segment(window, false);
  const double batch = sampled_.pipelined() ? mean_ticks(timing) : median_ticks(timing.batches);
  return to_ns(batch) / c.granules;
}

/// Repeats until two successive windows agree within 1 %: for at least warmup_min_operations or
/// warmup_min_us, and at most 30 % of the budget. For slow operations a window is a single
/// operation.
void Sampler::warm_up() {
  const double enough_ns = 1e3 * policy_.warmup_min_us;
  const auto enough = static_cast<std::uint64_t>(policy_.warmup_min_operations);
  granule_ns_ = first_granule_ns();
  const double longest_ns = std::min(kWarmUpShare * budget_ns(),
                                     std::max(kLongestWarmUpFactor * enough_ns, 4 * granule_ns_));
  bool stationary = false;
  double elapsed = elapsed_ns();
  while (!stationary && elapsed < longest_ns) {
    const double window_ns = warm_up_window(granule_ns_);
    elapsed = elapsed_ns();
    stationary =
        agree(window_ns, granule_ns_) && (samples_.operations >= enough || elapsed >= enough_ns);
    granule_ns_ = std::max(window_ns, granule_ns_ / kMostSpeedUp);
  }
  samples_.warm_up = {samples_.operations, elapsed, stationary};
}

/// Fixes the batches according to the latest time of a granule. Samples that were timed with an
/// older division count as warm-up.
void Sampler::choose_cutting() {
  cutting_ = cut(granule_ns_, sampled_.clock(), policy_, sampled_.pipelined());
  // There is no time for a second batch, so this one, from an empty pipe to an empty pipe, may be
  // half a window.
  if (cutting_.slow && 2 * granule_ns_ > budget_ns()) cutting_.granules = 1;
  samples_.operations_per_batch =
      std::uint64_t{cutting_.granules} * static_cast<std::uint64_t>(sampled_.granule());
  if (samples_.batch_ticks.empty()) return;
  sampled_.forget();
  samples_.warm_up = {samples_.operations, elapsed_ns(), false};
  samples_.batch_ticks.clear();
  samples_.block_batches.clear();
  samples_.block_values.clear();
  samples_.counted_operations = 0;
}

/// True if batches have become too short for the clock: the warm-up was disturbed, and the division
/// is based on it.
bool Sampler::cut_too_fine() {
  const double batch_ns = to_ns(median_of(samples_.block_values));
  if (batch_ns > kTooFine * shortest_batch_ns(sampled_.clock(), policy_)) return false;
  granule_ns_ = batch_ns / cutting_.granules;
  return true;
}

void Sampler::sample() {
  warm_up();
  choose_cutting();
  StopRule rule = stop_rule(point_, policy_, cutting_.slow);
  int recuts = 0;
  do {
    if (!samples_.block_values.empty() && recuts < kMostRecuts && cut_too_fine()) {
      ++recuts;
      choose_cutting();
      rule = stop_rule(point_, policy_, cutting_.slow);
    }
    if (cutting_.slow) {
      time_slow_blocks(rule);
    } else {
      time_block(rule);
    }
    const Estimate estimate = estimate_median(samples_.block_values, rule.target);
    const Progress progress{.batches = samples_.batch_ticks.size(),
                            .blocks = samples_.block_values.size(),
                            .operations = samples_.counted_operations,
                            .elapsed_ns = elapsed_ns()};
    samples_.stop = rule.decide(progress, estimate);
  } while (samples_.stop == Stop::none);
}

/// The last `batches` batches become a block. Its value is their median. For a pipelined pattern it
/// is their mean (from `total_ticks`), because there a batch ends with an acknowledgement, and
/// after a disturbance several acknowledgements arrive together: single batches look impossibly
/// short while their sum stays true.
void Sampler::close_block(std::uint32_t batches, double total_ticks) {
  samples_.block_batches.push_back(batches);
  const auto block = std::span<const Ticks>(samples_.batch_ticks).last(batches);
  samples_.block_values.push_back(sampled_.pipelined() ? total_ticks / batches
                                                       : median_ticks(block));
}

/// Segments last a quarter block; the time limit is checked after each, and a sudden slow-down
/// shortens the next ones.
void Sampler::time_block(const StopRule& rule) {
  sampled_.begin_block();
  const double batch_ns = granule_ns_ * cutting_.granules;
  std::uint32_t done = 0;
  double total_ticks = 0;
  while (done < cutting_.batches_per_block) {
    const std::uint32_t batches =
        std::min(cutting_.batches_per_segment, cutting_.batches_per_block - done);
    const Timing timing = time_segment(make_segment(cutting_, batches, sampled_.pipelined()), true);
    append(samples_.batch_ticks, timing.batches);
    total_ticks += timing.total_ticks;
    done += batches;
    if (to_ns(mean_ticks(timing)) > kSlowDown * batch_ns) {
      cutting_.batches_per_segment = std::max(1U, cutting_.batches_per_segment / 2);
    }
    if (elapsed_ns() >= rule.budget_ns) break;
  }
  close_block(done, total_ticks);
  sampled_.end_block();
}

/// Blocks of one batch each, timed without a pause: after a pause the first batch would include the
/// latency of the link once more. A run of such blocks is as long as all before it together, so
/// there are few pauses, and at most twice the necessary time is used.
void Sampler::time_slow_blocks(const StopRule& rule) {
  sampled_.begin_block();
  const double batch_ns = granule_ns_ * cutting_.granules;
  const std::size_t blocks = samples_.block_values.size();
  const double least =
      static_cast<double>(blocks < rule.min_blocks ? rule.min_blocks - blocks : rule.min_blocks);
  const double longest = std::floor(kRunShare * rule.budget_ns / batch_ns);
  const double wanted = std::max(least, std::min(longest, static_cast<double>(blocks)));
  const double limit = blocks < rule.min_blocks ? kOvershoot : 1;
  double room = std::floor((limit * rule.budget_ns - elapsed_ns()) / batch_ns);
  if (rule.iterations > 0) {
    const auto left = rule.iterations - std::min(rule.iterations, samples_.counted_operations);
    room =
        std::ceil(static_cast<double>(left) / static_cast<double>(samples_.operations_per_batch));
  }
  const bool half_window = sampled_.pipelined() && cutting_.granules % 2 != 0;
  if (half_window) room = 1;  // each from an empty pipe
  const auto batches = static_cast<std::uint32_t>(std::clamp(room, 1.0, wanted));
  Segment segment = make_segment(cutting_, batches, sampled_.pipelined());
  // Not longer than the counted part, however many members there are.
  segment.lead_in = std::min(static_cast<std::uint32_t>(sampled_.settle()), batches);
  const Timing timing = time_segment(segment, true);
  for (const Ticks batch : timing.batches) {
    samples_.batch_ticks.push_back(batch);
    close_block(1, static_cast<double>(batch));
  }
  granule_ns_ = to_ns(mean_ticks(timing)) / cutting_.granules;
  sampled_.end_block();
}

/// Uses a suite's warm-up, count and batches; its value is computed from all batches together.
void Sampler::sample_by_formula() {
  const double granule_ns = first_granule_ns();
  const FormulaCount count = formula_count(point_, sampled_.granule(), granule_ns);
  cutting_.granules = count.granules;
  samples_.operations_per_batch =
      std::uint64_t{count.granules} * static_cast<std::uint64_t>(sampled_.granule());
  const std::uint64_t before = samples_.operations;
  const double probed_ns = elapsed_ns();
  sampled_.begin_block();
  // No command comes between the warm-up and the counted part, so the caches and the other end stay
  // warm.
  const auto ticks =
      time_segment({.lead_in = count.warm_up, .batches = count.batches, .granules = count.granules},
                   true)
          .batches;
  const Ticks timed = std::accumulate(ticks.begin(), ticks.end(), Ticks{0});
  // A group's batches are those of its slowest members, and may sum to more than the elapsed time.
  samples_.warm_up = {before + count.warm_up * static_cast<std::uint64_t>(sampled_.granule()),
                      std::max(probed_ns, elapsed_ns() - to_ns(static_cast<double>(timed))), false};
  const std::uint32_t block = std::max(1U, count.batches / kFormulaBlocks);
  for (std::uint32_t at = 0; at < count.batches; at += block) {
    const std::uint32_t batches = std::min(block, count.batches - at);
    const auto part = ticks.subspan(at, batches);
    append(samples_.batch_ticks, part);
    const Ticks sum = std::accumulate(part.begin(), part.end(), Ticks{0});
    close_block(batches, static_cast<double>(sum));
  }
  sampled_.end_block();
  samples_.stop = Stop::iterations;
}

}  // namespace wireproof
