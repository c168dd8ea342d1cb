// Runs the group points of a plan on a transport that needs one process, and returns the leaders'
// results.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "in_process.hpp"
#include "measure/group_leader.hpp"

namespace wireproof {

inline std::vector<GroupOutcome> run_groups(const std::string& plan_text) {
  const Plan plan = parse_plan(plan_text);
  const auto transport = plan.transport == TransportKind::model ? open_model({}) : open_null({});
  transport->configure(plan);
  std::vector<GroupOutcome> outcomes;
  for (const Point& point : plan.points) {
    const GroupContext context{.point = &point,
                               .policy = &plan.policy,
                               .seed = plan.seed,
                               .moves_payload = transport->moves_payload()};
    transport->run_group(point.members, test_clock(), [&](GroupEnd& end) {
      if (end.member() == 0) {
        outcomes.push_back(GroupLeader(end, context).run());
      } else {
        GroupMember(end, context).serve();
      }
    });
  }
  return outcomes;
}

}  // namespace wireproof
