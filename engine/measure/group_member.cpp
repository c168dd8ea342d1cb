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
          .right = near.right};
}

GroupMember::GroupMember(GroupEnd& end, const GroupContext& context)
    : end_(end), context_(context) {
  if (context.host_clock != nullptr) context.host_clock->refit();
  const std::uint64_t seed = mix(context.seed) + static_cast<std::uint64_t>(context.point->id);
  runner_ = end.make_runner(group_shape_of(*context.point, *context.policy, end, seed));
}

std::uint64_t GroupMember::serve() {
  for (;;) {
    GroupCommand command;
    end_.broadcast(std::as_writable_bytes(std::span(&command, 1)));
    obey(command);
    if (command.order == GroupOrder::stop) break;
  }
  const Traffic each = runner_->traffic(end_.member());
  return operations_ * (each.sent_bytes + each.received_bytes);
}

std::span<const double> GroupMember::obey(const GroupCommand& command) {
  values_.clear();
  if (command.order == GroupOrder::run) {
    run(command);
  } else if (command.order == GroupOrder::forget) {
    elapsed_ns_ = 0;
  } else if (command.order == GroupOrder::turn) {
    turn(command.seed);
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
  if (command.counted != 0) elapsed_ns_ += elapsed_ns;
  operations_ += segment.total() * static_cast<std::uint64_t>(runner_->layout().granule);
  end_.reduce(Reduction::maximum, values_);
}

void GroupMember::turn(std::uint64_t seed) {
  const Neighbours near = neighbours_of(end_.member(), random_permutation(end_.members(), seed));
  runner_->turn_to(near.left, near.right);
}

}  // namespace wireproof
