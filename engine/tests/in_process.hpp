// Runs points of a plan on a transport that needs one process, and returns the origins' results.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "measure/origin.hpp"
#include "transport/openers.hpp"

namespace wireproof {

inline HostClock& test_clock() {
  static HostClock clock;
  return clock;
}

/// Every pair of every point, in order.
inline std::vector<PairOutcome> run_in_process(const std::string& plan_text) {
  const Plan plan = parse_plan(plan_text);
  const auto transport = plan.transport == TransportKind::model ? open_model({}) : open_null({});
  transport->configure(plan);
  std::vector<PairOutcome> outcomes;
  for (const Point& point : plan.points) {
    for (const auto& [origin, target] : point.pairs) {
      const EndContext context{.point = &point,
                               .policy = &plan.policy,
                               .seed = plan.seed,
                               .origin = origin,
                               .target = target,
                               .moves_payload = transport->moves_payload()};
      transport->run_pair(
          origin, target, test_clock(),
          {.originate = [&](Pair& pair) { outcomes.push_back(Origin(pair, context).run()); },
           .answer = [&](Pair& pair) { serve_target(pair, context); }});
    }
  }
  return outcomes;
}

}  // namespace wireproof
