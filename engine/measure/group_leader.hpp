// Member 0's program for one point of a group: warm up, time blocks until the stop rule applies,
// verify the payload, report. Sampled like a pair (measure/sampler.hpp); the time of a batch is
// that of the slowest member.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "measure/congestion.hpp"
#include "measure/group_member.hpp"
#include "measure/outcome.hpp"
#include "measure/overlap.hpp"
#include "measure/phases.hpp"
#include "measure/sampler.hpp"

namespace wireproof {

/// The `group` of the point frame, before it is converted to text. Ticks are picoseconds.
struct GroupOutcome : Samples {
  int window_used = 1;
  std::uint64_t messages_per_operation = 0;
  std::vector<double> member_ns;
  std::vector<std::uint64_t> sent_bytes;
  std::vector<std::uint64_t> received_bytes;
  bool exact = true;
  std::optional<Estimate> estimate;
  std::optional<double> formula_value_ns;
  std::optional<Overlap> overlap;
  std::optional<Quantiles> quiet;  ///< of congestion, as `loaded`
  std::optional<Quantiles> loaded;
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
  int settle() const override { return member_.runner().layout().settle; }
  Ticks now() override;
  const ClockFacts& clock() const override { return clock_; }

  std::span<const double> command(const GroupCommand& command);
  void turn_to(int ring);
  void verify();
  void conclude();
  void conclude_traffic();
  void conclude_moved();
  void sample();
  void sample_with_overlap();
  void sample_congestion();
  Phases phases(Ticks began);

  GroupEnd& end_;
  const GroupContext& context_;
  const Point& point_;
  GroupMember member_;
  ClockFacts clock_;  // of this host, in picoseconds
  std::vector<Ticks> batches_;
  GroupOutcome outcome_;
  std::uint64_t verifications_ = 0;
  Phase phase_ = Phase::plain;
  std::uint64_t noted_operations_ = 0;  // of the segments of phases
};

}  // namespace wireproof
