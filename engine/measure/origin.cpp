#include "measure/origin.hpp"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "measure/formula.hpp"
#include "pattern/payload.hpp"

namespace wireproof {
namespace {

constexpr std::uint32_t kWindowBatches = 10;  // batches in one warm-up window
constexpr double kAgreement = 0.01;
constexpr double kWarmUpShare = 0.3;         // of the budget, at most
constexpr double kLongestWarmUpFactor = 10;  // times warmup_min_us, for operations that are short
constexpr double kMostSpeedUp = 8;  // between warm-up windows: a false short one costs little
constexpr double kSlowDown = 4;  // a segment this many times slower than expected halves the next
constexpr double kProbeQuanta = 20;
constexpr std::uint32_t kMostProbed = 1U << 20;
constexpr double kTooFine = 0.25;  // of the shortest batch
constexpr int kMostRecuts = 3;
constexpr double kOvershoot =
    2;  // of the budget, only to reach the six blocks that an interval needs

bool agree(double one, double other) { return std::abs(one - other) <= kAgreement * other; }

double median_ticks(std::span<const Ticks> ticks) {
  return median_of(std::vector<double>(ticks.begin(), ticks.end()));
}

double mean_ticks(std::span<const Ticks> ticks) {
  const Ticks sum = std::accumulate(ticks.begin(), ticks.end(), Ticks{0});
  return static_cast<double>(sum) / static_cast<double>(ticks.size());
}

}  // namespace

double operations_per_estimate(Pattern pattern) { return pattern == Pattern::pingpong ? 0.5 : 1; }

Origin::Origin(Pair& pair, const EndContext& context)
    : pair_(pair), context_(context), point_(*context.point), policy_(*context.policy) {}

PairOutcome Origin::run() {
  runner_ = pair_.make_runner(shape_of(point_, policy_));
  TargetReport ready;
  pair_.recv_control(std::as_writable_bytes(std::span(&ready, 1)));
  began_ = pair_.now();
  outcome_.origin = context_.origin;
  outcome_.target = context_.target;
  if (point_.formula == Formula::robust) {
    warm_up();
    measure_until_stopped();
  } else {
    measure_by_formula();
  }
  verify();
  finish();
  return std::move(outcome_);
}

double Origin::elapsed_ns() { return to_ns(static_cast<double>(pair_.now() - began_)); }

/// One command to the target, one timed run here. The result is valid until the next call.
std::span<const Ticks> Origin::time_segment(const Segment& segment, bool counted) {
  if (scratch_.size() < segment.batches + 1U) scratch_.resize(segment.batches + 1U);
  send_command(pair_, {.order = Order::run, .counted = counted, .segment = segment});
  runner_->originate(segment, scratch_);
  const auto granule = static_cast<std::uint64_t>(runner_->granule());
  operations_ += segment.total() * granule;
  if (counted) counted_operations_ += segment.timed() * granule;
  return std::span(scratch_).first(segment.batches);
}

/// Rough time of one granule; the first is always the slowest (connections, page faults), so the
/// second counts. Doubled until the clock can see it. For a pipelined pattern the whole probe
/// counts: what the system has buffered arrives at once, and a batch of it may last no time at all.
double Origin::first_granule_ns() {
  const bool pipelined = runner_->pipelined();
  Segment probe{.lead_in = pipelined ? 1U : 0U, .batches = 2};
  for (;;) {
    const Ticks start = pair_.now();
    const double batch_ns = to_ns(static_cast<double>(time_segment(probe, false)[1]));
    const double whole_ns = to_ns(static_cast<double>(pair_.now() - start));
    const double seen_ns = std::max(pipelined ? whole_ns : batch_ns, 1e-3);
    const bool enough = seen_ns >= kProbeQuanta * pair_.clock().quantum_ns;
    if (enough || probe.granules >= kMostProbed) {
      return seen_ns / static_cast<double>(pipelined ? probe.total() : probe.granules);
    }
    probe.granules *= 2;
  }
}

/// Time of one granule by one window, in ns.
double Origin::warm_up_window(double granule_ns) {
  const Cutting c = cut(granule_ns, pair_.clock(), policy_, runner_->pipelined());
  const double batch_ns = granule_ns * c.granules;
  const double room = std::max(1.0, 1e3 * policy_.warmup_min_us / 4 / batch_ns);
  const std::uint32_t batches =
      c.slow ? 1 : std::min(kWindowBatches, static_cast<std::uint32_t>(room));
  const Segment window = make_segment(c, batches, runner_->pipelined());
  const auto ticks = time_segment(window, false);
  return to_ns(runner_->pipelined() ? mean_ticks(ticks) : median_ticks(ticks)) / c.granules;
}

/// Until two successive windows agree within 1 %: at least warmup_min_operations or warmup_min_us,
/// at most 30 % of the budget. Windows of slow operations are single operations.
void Origin::warm_up() {
  const double budget_ns = 1e6 * point_.budget_ms.value_or(policy_.point_budget_ms);
  const double enough_ns = 1e3 * policy_.warmup_min_us;
  const auto enough = static_cast<std::uint64_t>(policy_.warmup_min_operations);
  granule_ns_ = first_granule_ns();
  const double longest_ns = std::min(kWarmUpShare * budget_ns,
                                     std::max(kLongestWarmUpFactor * enough_ns, 4 * granule_ns_));
  bool stationary = false;
  double elapsed = 0;
  do {
    const double window_ns = warm_up_window(granule_ns_);
    elapsed = elapsed_ns();
    stationary = agree(window_ns, granule_ns_) && (operations_ >= enough || elapsed >= enough_ns);
    granule_ns_ = std::max(window_ns, granule_ns_ / kMostSpeedUp);
  } while (!stationary && elapsed < longest_ns);
  outcome_.warm_up = {operations_, elapsed, stationary};
}

/// Fixes the cutting by the newest time of a granule. What was timed by an older one joins the
/// warm-up.
void Origin::choose_cutting() {
  cutting_ = cut(granule_ns_, pair_.clock(), policy_, runner_->pipelined());
  outcome_.operations_per_batch =
      std::uint64_t{cutting_.granules} * static_cast<std::uint64_t>(runner_->granule());
  if (outcome_.batch_ticks.empty()) return;
  send_command(pair_, {.order = Order::forget});
  outcome_.warm_up = {operations_, elapsed_ns(), false};
  outcome_.batch_ticks.clear();
  outcome_.block_batches.clear();
  outcome_.sentinels.clear();
  block_values_.clear();
  counted_operations_ = 0;
}

/// True when batches have become too short for the clock: the warm-up met a hiccup and the cutting
/// is made for it.
bool Origin::cut_too_fine() {
  const double batch_ns = to_ns(median_of(block_values_));
  if (batch_ns > kTooFine * shortest_batch_ns(pair_.clock(), policy_)) return false;
  granule_ns_ = batch_ns / cutting_.granules;
  return true;
}

void Origin::measure_until_stopped() {
  choose_cutting();
  StopRule rule = stop_rule(point_, policy_, cutting_.slow);
  int recuts = 0;
  do {
    if (!block_values_.empty() && recuts < kMostRecuts && cut_too_fine()) {
      ++recuts;
      choose_cutting();
      rule = stop_rule(point_, policy_, cutting_.slow);
    }
    if (cutting_.slow) {
      time_slow_blocks(rule);
    } else {
      time_block(rule);
    }
    const Estimate estimate = estimate_median(block_values_, rule.target);
    const Progress progress{.batches = outcome_.batch_ticks.size(),
                            .blocks = block_values_.size(),
                            .operations = counted_operations_,
                            .elapsed_ns = elapsed_ns()};
    outcome_.stop = rule.decide(progress, estimate);
  } while (outcome_.stop == Stop::none);
}

void Origin::begin_sentinel() {
  bounce_ns_ = bounce();
  if (context_.sentinel != nullptr) context_.sentinel->restart();
}

void Origin::end_sentinel() {
  if (context_.sentinel == nullptr) return;
  outcome_.sentinels.push_back(context_.sentinel->read());
  outcome_.sentinels.back().bounce_ns = bounce_ns_;
}

std::optional<double> Origin::bounce() {
  if (context_.bounce == nullptr) return std::nullopt;
  send_command(pair_, {.order = Order::bounce});
  return context_.bounce->measure();
}

/// The last `batches` batches become a block. Its value is their median, but for a pipelined
/// pattern their mean: there a batch ends with an acknowledgement, and after a hiccup several of
/// those arrive together, so that single batches look impossibly short while their sum stays true.
void Origin::close_block(std::uint32_t batches) {
  outcome_.block_batches.push_back(batches);
  const auto block = std::span<const Ticks>(outcome_.batch_ticks).last(batches);
  block_values_.push_back(runner_->pipelined() ? mean_ticks(block) : median_ticks(block));
}

/// Segments of a quarter block; the time cap is looked at after each, and a sudden slow-down
/// shortens what follows.
void Origin::time_block(const StopRule& rule) {
  begin_sentinel();
  const double batch_ns = granule_ns_ * cutting_.granules;
  std::uint32_t done = 0;
  while (done < cutting_.batches_per_block) {
    const std::uint32_t batches =
        std::min(cutting_.batches_per_segment, cutting_.batches_per_block - done);
    const auto ticks = time_segment(make_segment(cutting_, batches, runner_->pipelined()), true);
    outcome_.batch_ticks.insert(outcome_.batch_ticks.end(), ticks.begin(), ticks.end());
    done += batches;
    if (to_ns(mean_ticks(ticks)) > kSlowDown * batch_ns) {
      cutting_.batches_per_segment = std::max(1U, cutting_.batches_per_segment / 2);
    }
    if (elapsed_ns() >= rule.budget_ns) break;
  }
  close_block(done);
  end_sentinel();
}

/// Blocks of one batch each, timed in one go: a pause between them would cost another lead-in.
void Origin::time_slow_blocks(const StopRule& rule) {
  begin_sentinel();
  const double batch_ns = granule_ns_ * cutting_.granules;
  const std::size_t blocks = block_values_.size();
  const double wanted =
      blocks < rule.min_blocks ? static_cast<double>(rule.min_blocks - blocks) : 3;
  const double limit = blocks < rule.min_blocks ? kOvershoot : 1;
  double room = std::floor((limit * rule.budget_ns - elapsed_ns()) / batch_ns);
  if (rule.iterations > 0) {
    const auto left = rule.iterations - std::min(rule.iterations, counted_operations_);
    room =
        std::ceil(static_cast<double>(left) / static_cast<double>(outcome_.operations_per_batch));
  }
  const auto batches = static_cast<std::uint32_t>(std::clamp(room, 1.0, wanted));
  const auto ticks = time_segment(make_segment(cutting_, batches, runner_->pipelined()), true);
  for (const Ticks batch : ticks) {
    outcome_.batch_ticks.push_back(batch);
    close_block(1);
  }
  granule_ns_ = to_ns(mean_ticks(ticks)) / cutting_.granules;
  end_sentinel();
}

/// A suite's own warm-up, count and batches; its value is made from all batches together.
void Origin::measure_by_formula() {
  const double granule_ns = first_granule_ns();
  const FormulaCount count = formula_count(point_, runner_->granule(), granule_ns);
  if (count.warm_up > 0) time_segment({.granules = count.warm_up}, false);
  outcome_.warm_up = {operations_, elapsed_ns(), false};
  cutting_.granules = count.granules;
  outcome_.operations_per_batch =
      std::uint64_t{count.granules} * static_cast<std::uint64_t>(runner_->granule());
  begin_sentinel();
  const auto ticks = time_segment({.batches = count.batches, .granules = count.granules}, true);
  const std::uint32_t block = std::max(1U, count.batches / kFormulaBlocks);
  for (std::uint32_t at = 0; at < count.batches; at += block) {
    const std::uint32_t batches = std::min(block, count.batches - at);
    const auto part = ticks.subspan(at, batches);
    outcome_.batch_ticks.insert(outcome_.batch_ticks.end(), part.begin(), part.end());
    close_block(batches);
  }
  end_sentinel();
  outcome_.stop = Stop::iterations;
}

void Origin::verify() {
  if (!context_.moves_payload) return;
  const std::uint64_t seed = mix(mix(context_.seed) ^ static_cast<std::uint64_t>(point_.id) ^
                                 (static_cast<std::uint64_t>(context_.origin) << 32));
  send_command(pair_, {.order = Order::verify, .seed = seed});
  const bool good = runner_->verify_origin(seed);
  outcome_.integrity = good ? Integrity::ok : Integrity::corrupt;
  ++verifications_;
}

/// Takes the target's report and derives what is told per pair.
void Origin::finish() {
  send_command(pair_, {.order = Order::stop});
  TargetReport report;
  pair_.recv_control(std::as_writable_bytes(std::span(&report, 1)));
  conclude(report);
  runner_.reset();
}

void Origin::conclude(const TargetReport& report) {
  PairOutcome& o = outcome_;
  if (report.corrupt != 0) o.integrity = Integrity::corrupt;
  if (report.core >= 0) o.target_core = report.core;
  if (const int core = sched_getcpu(); core >= 0) o.origin_core = core;
  if (report.elapsed_ns > 0) o.target_elapsed_ns = report.elapsed_ns;
  o.window_used = bounded_window(point_, policy_);
  const auto verified = static_cast<std::uint64_t>(verifications_);
  const bool forward = point_.pattern != Pattern::get;
  const bool backward = point_.pattern == Pattern::pingpong ||
                        point_.pattern == Pattern::exchange || point_.pattern == Pattern::get;
  o.messages_forward = (forward ? operations_ : 0) +
                       verified * static_cast<std::uint64_t>(runner_->verified_forward());
  o.messages_backward = (backward ? operations_ : 0) +
                        verified * static_cast<std::uint64_t>(runner_->verified_backward());
  o.payload_forward_bytes = o.messages_forward * point_.message_bytes;
  o.payload_backward_bytes = o.messages_backward * point_.message_bytes;
  if (context_.host_clock != nullptr) context_.host_clock->refit();
  o.ns_per_tick = pair_.clock().ns_per_tick;
  const double scale = o.ns_per_tick * operations_per_estimate(point_.pattern) /
                       static_cast<double>(o.operations_per_batch);
  std::vector<double> values = block_values_;
  for (double& value : values) value *= scale;
  o.estimate = estimate_median(values, target_half_width(point_, policy_));
  if (point_.formula == Formula::robust) return;
  o.formula_value_ns = formula_value_ns(o, point_);
}

}  // namespace wireproof
