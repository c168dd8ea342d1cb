#include "measure/group_member.hpp"

#include <algorithm>

#include "measure/schedule.hpp"
#include "pattern/group/permutation.hpp"
#include "pattern/payload.hpp"

namespace wireproof {

GroupShape group_shape_of(const Point& point, const Policy& policy, const GroupEnd& end,
                          std::uint64_t seed) {
  const int members = end.members();
  const Neighbours near = point.order == RingOrder::natural
                              ? neighbours_of(end.member(), members)
                              : neighbours_of(end.member(), random_permutation(members, seed));
  return {.pattern = point.pattern,
          .formula = point.formula,
          .bytes = point.message_bytes,
          .window = bounded_window(point, policy),
          .member = end.member(),
          .members = members,
          .left = near.left,
          .right = near.right,
          .blocking = point.blocking,
          .watched = point.watched_pairs,
          .load_bytes = point.load_bytes};
}

GroupMember::GroupMember(GroupEnd& end, const GroupContext& context)
    : end_(end), context_(context) {
  if (context.host_clock != nullptr) context.host_clock->refit();
  const std::uint64_t seed = mix(context.seed) + static_cast<std::uint64_t>(context.point->id);
  runner_ = end.make_runner(group_shape_of(*context.point, *context.policy, end, seed));
}

Traffic GroupMember::serve() {
  for (;;) {
    GroupCommand command;
    end_.broadcast(std::as_writable_bytes(std::span(&command, 1)));
    obey(command);
    if (command.order == GroupOrder::stop) break;
  }
  if (const auto moved = runner_->moved()) return *moved;
  const Traffic each = runner_->traffic(end_.member());
  return {.sent_bytes = operations_ * each.sent_bytes,
          .received_bytes = operations_ * each.received_bytes};
}

std::span<const double> GroupMember::obey(const GroupCommand& command) {
  values_.clear();
  if (command.order == GroupOrder::run) {
    run(command);
  } else if (command.order == GroupOrder::forget) {
    elapsed_ns_ = 0;
    round_trips_ns_.clear();
  } else if (command.order == GroupOrder::turn) {
    turn(command.seed);
  } else if (command.order == GroupOrder::enter) {
    phase_ = command.phase;
    runner_->enter(command.phase, command.compute_ns, end_.clock().ns_per_tick);
  } else if (command.order == GroupOrder::collect) {
    collect(command.seed);
  } else if (command.order == GroupOrder::account) {
    account();
  } else if (command.order == GroupOrder::verify) {
    values_.assign(1, runner_->verify(command.seed) ? 0 : 1);
    ++operations_;
    end_.reduce(Reduction::maximum, values_);
  } else {
    values_ = end_.gather(elapsed_ns_);
  }
  return values_;
}

void GroupMember::run(const GroupCommand& command) {
  const Segment& segment = command.segment;
  if (ticks_.size() < segment.batches + 1U) ticks_.resize(segment.batches + 1U);
  const Ticks elapsed = runner_->run(segment, ticks_);
  const double ns_per_tick = end_.clock().ns_per_tick;
  for (std::uint32_t i = 0; i < segment.batches; ++i) {
    values_.push_back(static_cast<double>(ticks_[i]) * ns_per_tick);
  }
  const double elapsed_ns = static_cast<double>(elapsed) * ns_per_tick;
  const bool told = std::any_of(values_.begin(), values_.end(), [](double ns) { return ns > 0; });
  values_.push_back(told ? elapsed_ns : 0);
  if (command.counted != 0) {
    elapsed_ns_ += elapsed_ns;
    for (const Ticks ticks : runner_->round_trips()) {
      round_trips_ns_.push_back(static_cast<double>(ticks) * ns_per_tick);
    }
  }
  if (phase_ != Phase::computing)
    operations_ += segment.total() * static_cast<std::uint64_t>(runner_->layout().granule);
  end_.reduce(Reduction::maximum, values_);
}

/// Each watched pair has a place in one list and writes 0 elsewhere, so the sum contains all of
/// them.
void GroupMember::collect(std::size_t each) {
  values_.assign(each * static_cast<std::size_t>(context_.point->watched_pairs), 0);
  if (!round_trips_ns_.empty()) {
    const std::size_t first = static_cast<std::size_t>(end_.member() / 2) * each;
    std::copy_n(round_trips_ns_.begin(), std::min(each, round_trips_ns_.size()),
                values_.begin() + static_cast<std::ptrdiff_t>(first));
  }
  round_trips_ns_.clear();
  end_.reduce(Reduction::sum, values_);
}

void GroupMember::account() {
  const auto members = static_cast<std::size_t>(end_.members());
  const auto self = static_cast<std::size_t>(end_.member());
  const Traffic moved = runner_->moved().value_or(Traffic{});
  values_.assign(2 * members, 0);
  values_[self] = static_cast<double>(moved.sent_bytes);
  values_[members + self] = static_cast<double>(moved.received_bytes);
  end_.reduce(Reduction::sum, values_);
}

void GroupMember::turn(std::uint64_t seed) {
  const Neighbours near = neighbours_of(end_.member(), random_permutation(end_.members(), seed));
  runner_->turn_to(near.left, near.right);
}

}  // namespace wireproof
