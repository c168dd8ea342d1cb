// The untimed conversation among the members of a group: member 0 sends commands, and all members
// (itself included) obey.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "pattern/group/end.hpp"
#include "plan/plan.hpp"

namespace wireproof {

/// What a member needs to know about its process.
struct GroupContext {
  const Point* point = nullptr;
  const Policy* policy = nullptr;
  std::uint64_t seed = 0;
  bool moves_payload = true;
  HostClock* host_clock = nullptr;  ///< null: time is not the host's (a model's clock)
};

enum class GroupOrder : std::uint32_t { run, forget, verify, turn, enter, collect, account, stop };

/// One broadcast from member 0. Plain data, because all members are the same program on the same
/// kind of machine.
struct GroupCommand {
  GroupOrder order = GroupOrder::stop;
  std::uint32_t counted = 0;  ///< 1: the segment belongs to the measurement (not to the warm-up)
  Segment segment{};
  /// verify: seed of the payload; turn: of the ring; collect: number for each pair
  std::uint64_t seed = 0;
  Phase phase = Phase::plain;
  double compute_ns = 0;
};

GroupShape group_shape_of(const Point& point, const Policy& policy, const GroupEnd& end,
                          std::uint64_t seed);

class GroupMember {
 public:
  GroupMember(GroupEnd& end, const GroupContext& context);

  /// The program of all members except 0: obeys until it gets `stop`. Returns the payload
  /// that this member sent and received.
  Traffic serve();

  /// Executes a command that every member has received. At member 0 the result contains: after
  /// `run` the longest time of each batch and then of all batches together, in ns; after `verify` 1
  /// if a byte differed anywhere; after `stop` each member's own time over the counted segments in
  /// ns; after `collect` the counted round trips of every watched pair in ns (which are then
  /// forgotten); after `account` what each member has sent and then what each has received, if that
  /// does not follow from the operations. Valid until the next call.
  std::span<const double> obey(const GroupCommand& command);

  const GroupRunner& runner() const { return *runner_; }

 private:
  void run(const GroupCommand& command);
  void turn(std::uint64_t seed);
  void collect(std::size_t each);
  void account();

  GroupEnd& end_;
  const GroupContext& context_;
  std::unique_ptr<GroupRunner> runner_;
  std::vector<Ticks> ticks_;
  std::vector<double> values_;
  std::vector<double> round_trips_ns_;
  Phase phase_ = Phase::plain;
  double elapsed_ns_ = 0;
  std::uint64_t operations_ = 0;  // all, warm-up and verification included
};

}  // namespace wireproof
