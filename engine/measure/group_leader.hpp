// Member 0's program for one point of a group: warm up, time blocks until the stop rule says so,
// verify the payload, report. Sampled as a pair is (measure/sampler.hpp); the time of a batch is
// that of the slowest member.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "measure/group_member.hpp"
#include "measure/outcome.hpp"
#include "measure/sampler.hpp"

namespace wireproof {

/// The `group` of the point frame, before it is text. Ticks are picoseconds.
struct GroupOutcome : Samples {
  int window_used = 1;
  std::uint64_t messages_per_operation = 0;
  std::vector<double> member_ns;
  std::vector<std::uint64_t> sent_bytes;
  std::vector<std::uint64_t> received_bytes;
  bool exact = true;
  std::optional<Estimate> estimate;
  std::optional<double> formula_value_ns;
  Integrity integrity = Integrity::unchecked;
};

class GroupLeader final : private Sampled {
 public:
  GroupLeader(GroupEnd& end, const GroupContext& context);
  GroupOutcome run();

 private:
  Timing time_segment(const Segment& segment, bool counted) override;
  void forget() override;
  int granule() const override { return member_.runner().layout().granule; }
  bool pipelined() const override { return member_.runner().layout().pipelined; }
  Ticks now() override;
  const ClockFacts& clock() const override { return clock_; }

  std::span<const double> command(const GroupCommand& command);
  void turn_to(int ring);
  void verify();
  void conclude();
  void conclude_traffic();

  GroupEnd& end_;
  const GroupContext& context_;
  const Point& point_;
  GroupMember member_;
  ClockFacts clock_;  // of this host, in picoseconds
  std::vector<Ticks> batches_;
  GroupOutcome outcome_;
  std::uint64_t verifications_ = 0;
};

}  // namespace wireproof
