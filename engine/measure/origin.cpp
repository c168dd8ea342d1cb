#include "measure/origin.hpp"

#include <sched.h>

#include <numeric>
#include <utility>

#include "measure/formula.hpp"
#include "pattern/payload.hpp"

namespace wireproof {

double operations_per_estimate(const Point& point) {
  return is_round_trip(point.pattern, point.form) ? 0.5 : 1;
}

Origin::Origin(Pair& pair, const EndContext& context)
    : pair_(pair), context_(context), point_(*context.point), policy_(*context.policy) {}

PairOutcome Origin::run() {
  runner_ = pair_.make_runner(shape_of(point_, policy_));
  TargetReport ready;
  pair_.recv_control(std::as_writable_bytes(std::span(&ready, 1)));
  outcome_.origin = context_.origin;
  outcome_.target = context_.target;
  Sampler sampler(*this, point_, policy_);
  if (point_.formula == Formula::robust) {
    sampler.sample();
  } else {
    sampler.sample_by_formula();
  }
  static_cast<Samples&>(outcome_) = std::move(sampler.samples());
  verify();
  finish();
  return std::move(outcome_);
}

/// Sends one command to the target and runs one timed segment here.
Timing Origin::time_segment(const Segment& segment, bool counted) {
  if (scratch_.size() < segment.batches + 1U) scratch_.resize(segment.batches + 1U);
  send_command(pair_, {.order = Order::run, .counted = counted, .segment = segment});
  runner_->originate(segment, scratch_);
  const auto batches = std::span(scratch_).first(segment.batches);
  const Ticks sum = std::accumulate(batches.begin(), batches.end(), Ticks{0});
  return {batches, static_cast<double>(sum)};
}

void Origin::forget() {
  send_command(pair_, {.order = Order::forget});
  outcome_.sentinels.clear();
}

void Origin::begin_block() {
  bounce_ns_ = bounce();
  if (context_.sentinel != nullptr) context_.sentinel->restart();
}

void Origin::end_block() {
  if (context_.sentinel == nullptr) return;
  outcome_.sentinels.push_back(context_.sentinel->read());
  outcome_.sentinels.back().bounce_ns = bounce_ns_;
}

std::optional<double> Origin::bounce() {
  if (context_.bounce == nullptr) return std::nullopt;
  send_command(pair_, {.order = Order::bounce});
  return context_.bounce->measure();
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

/// Takes the target's report and derives the reported values of the pair.
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
  if (report.waited_ns >= 0) o.target_waited_ns = report.waited_ns;
  o.window_used = bounded_window(point_, policy_);
  const auto verified = static_cast<std::uint64_t>(verifications_);
  const auto moved = o.operations * static_cast<std::uint64_t>(runner_->messages_per_operation());
  o.messages_forward = (moves_forward(point_.pattern) ? moved : 0) +
                       verified * static_cast<std::uint64_t>(runner_->verified_forward());
  o.messages_backward = (moves_backward(point_.pattern, point_.form) ? moved : 0) +
                        verified * static_cast<std::uint64_t>(runner_->verified_backward());
  o.payload_forward_bytes = o.messages_forward * point_.message_bytes;
  o.payload_backward_bytes = o.messages_backward * point_.message_bytes;
  if (context_.host_clock != nullptr) context_.host_clock->refit();
  o.ns_per_tick = pair_.clock().ns_per_tick;
  const double scale =
      o.ns_per_tick * operations_per_estimate(point_) / static_cast<double>(o.operations_per_batch);
  std::vector<double> values = o.block_values;
  for (double& value : values) value *= scale;
  o.estimate = estimate_median(values, target_half_width(point_, policy_));
  if (point_.formula == Formula::robust) return;
  o.formula_value_ns = formula_value_ns(o, point_);
}

}  // namespace wireproof
