#include "measure/group_leader.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "measure/group_formula.hpp"
#include "measure/hpcc_rings.hpp"
#include "pattern/payload.hpp"

namespace wireproof {
namespace {

// The members' clocks tick differently, so times are sent in ns and stored as whole picoseconds.
constexpr double kTicksPerNs = 1000;

Ticks to_ticks(double ns) { return static_cast<Ticks>(std::llround(ns * kTicksPerNs)); }

ClockFacts in_picoseconds(ClockFacts facts) {
  facts.ns_per_tick = 1 / kTicksPerNs;
  return facts;
}

}  // namespace

GroupLeader::GroupLeader(GroupEnd& end, const GroupContext& context)
    : end_(end),
      context_(context),
      point_(*context.point),
      member_(end, context),
      clock_(in_picoseconds(end.clock())) {}

GroupOutcome GroupLeader::run() {
  if (point_.pattern == Pattern::congestion) {
    sample_congestion();
  } else if (!point_.blocking) {
    sample_with_overlap();
  } else {
    sample();
  }
  verify();
  conclude();
  return std::move(outcome_);
}

void GroupLeader::sample() {
  Sampler sampler(*this, point_, *context_.policy);
  if (point_.formula == Formula::robust) {
    sampler.sample();
  } else if (point_.formula == Formula::hpcc) {
    outcome_.formula_value_ns =
        sample_hpcc_rings(sampler, point_, clock_, [this](int ring) { turn_to(ring); });
  } else {
    sampler.sample_by_formula();
  }
  static_cast<Samples&>(outcome_) = std::move(sampler.samples());
}

/// The collective alone gets half of the budget.
void GroupLeader::sample_with_overlap() {
  const Ticks began = now();
  const int budget_ms = point_.budget_ms.value_or(context_.policy->point_budget_ms);
  Point alone = point_;
  alone.budget_ms = std::max(1, budget_ms / 2);
  Sampler sampler(*this, alone, *context_.policy);
  sampler.sample();
  static_cast<Samples&>(outcome_) = std::move(sampler.samples());
  const double pure_ns = median_of(outcome_.block_values) / kTicksPerNs /
                         static_cast<double>(outcome_.operations_per_batch);
  outcome_.overlap =
      measure_overlap(phases(began), pure_ns, clock_, *context_.policy, 1e6 * budget_ms);
}

void GroupLeader::sample_congestion() {
  Congestion found = measure_congestion(phases(now()), point_, *context_.policy, clock_);
  static_cast<Samples&>(outcome_) = std::move(found.samples);
  outcome_.operations = noted_operations_;
  outcome_.quiet = found.quiet;
  outcome_.loaded = found.loaded;
}

Phases GroupLeader::phases(Ticks began) {
  return {.enter =
              [this](Phase phase, double compute_ns) {
                phase_ = phase;
                if (phase == Phase::loaded) forget();  // the members' times under load
                command({.order = GroupOrder::enter, .phase = phase, .compute_ns = compute_ns});
              },
          .time =
              [this](const Segment& segment, bool counted) {
                if (phase_ != Phase::computing) noted_operations_ += segment.total();
                return time_segment(segment, counted);
              },
          .elapsed_ns = [this, began] { return static_cast<double>(now() - began) / kTicksPerNs; },
          .collect =
              [this](std::size_t each) {
                const auto all = command({.order = GroupOrder::collect, .seed = each});
                return std::vector<double>(all.begin(), all.end());
              }};
}

Ticks GroupLeader::now() {
  return to_ticks(static_cast<double>(end_.now()) * end_.clock().ns_per_tick);
}

std::span<const double> GroupLeader::command(const GroupCommand& command) {
  GroupCommand copy = command;
  end_.broadcast(std::as_writable_bytes(std::span(&copy, 1)));
  return member_.obey(command);
}

Timing GroupLeader::time_segment(const Segment& segment, bool counted) {
  const auto slowest = command({.order = GroupOrder::run, .counted = counted, .segment = segment});
  batches_.resize(segment.batches);
  std::transform(slowest.begin(), slowest.end() - 1, batches_.begin(), to_ticks);
  return {batches_, slowest.back() * kTicksPerNs};
}

void GroupLeader::forget() { command({.order = GroupOrder::forget}); }

/// The rings are the same in every repetition, and in every run with this seed.
void GroupLeader::turn_to(int ring) {
  const std::uint64_t seed = mix(mix(context_.seed) + static_cast<std::uint64_t>(point_.id)) +
                             static_cast<std::uint64_t>(ring);
  command({.order = GroupOrder::turn, .seed = seed});
}

void GroupLeader::verify() {
  if (!context_.moves_payload) return;
  const std::uint64_t seed =
      mix(mix(context_.seed) ^ static_cast<std::uint64_t>(point_.id) ^ (std::uint64_t{1} << 63));
  const bool corrupt = command({.order = GroupOrder::verify, .seed = seed}).front() != 0;
  outcome_.integrity = corrupt ? Integrity::corrupt : Integrity::ok;
  ++verifications_;
}

void GroupLeader::conclude() {
  GroupOutcome& o = outcome_;
  conclude_traffic();
  const auto elapsed = command({.order = GroupOrder::stop});
  o.member_ns.assign(elapsed.begin(), elapsed.end());
  const double counted = std::max<double>(1, static_cast<double>(o.counted_operations));
  for (double& ns : o.member_ns) ns /= counted;
  std::vector<double> values = o.block_values;
  for (double& value : values) {
    value /= kTicksPerNs * static_cast<double>(o.operations_per_batch);
  }
  o.estimate = estimate_median(values, target_half_width(point_, *context_.policy));
  if (point_.formula == Formula::osu || point_.formula == Formula::imb_mpi1) {
    o.formula_value_ns = group_formula_value_ns(o, point_);
  }
}

void GroupLeader::conclude_traffic() {
  GroupOutcome& o = outcome_;
  const GroupLayout& layout = member_.runner().layout();
  o.window_used = bounded_window(point_, *context_.policy);
  o.messages_per_operation = layout.messages;
  o.exact = layout.exact;
  if (point_.pattern == Pattern::congestion) return conclude_moved();
  const std::uint64_t operations = o.operations + verifications_;
  for (int member = 0; member < end_.members(); ++member) {
    const Traffic each = member_.runner().traffic(member);
    o.sent_bytes.push_back(operations * each.sent_bytes);
    o.received_bytes.push_back(operations * each.received_bytes);
  }
}

void GroupLeader::conclude_moved() {
  const auto bytes = command({.order = GroupOrder::account});
  const auto half = bytes.begin() + end_.members();
  outcome_.sent_bytes.assign(bytes.begin(), half);
  outcome_.received_bytes.assign(half, bytes.end());
}

}  // namespace wireproof
