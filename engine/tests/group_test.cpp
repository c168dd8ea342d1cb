// Group patterns on the model equal their closed forms (docs/reference/engine-interface.md).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/failure.hpp"
#include "base/fiber_set.hpp"
#include "group_in_process.hpp"
#include "measure/floor.hpp"
#include "pattern/group/permutation.hpp"

namespace wireproof {
namespace {

struct World {
  double latency;
  double gap;
  double overhead;

  std::string statement() const {
    return "wireproof-plan 1\nrun seed=11\ntransport kind=model\nmodel latency_ns=" +
           std::to_string(latency) + " gap_ns_per_byte=" + std::to_string(gap) +
           " overhead_ns=" + std::to_string(overhead) +
           " eager_limit_bytes=16384 rendezvous_ns=3000\n"
           "policy warmup_min_operations=20 warmup_min_us=20 block_us=50 min_blocks=6 "
           "point_budget_ms=20\n";
  }
  double occupancy(double bytes) const { return gap * bytes + (bytes > 16384 ? 3000 : 0); }

  /// A member that sends `count` messages and waits for as many, with everybody in step.
  double crossing(double count, double bytes) const {
    const double occupied = occupancy(bytes);
    return std::max(2 * count * overhead,
                    latency + 2 * overhead + (count - 1) * std::max(overhead, occupied) + occupied);
  }
};

GroupOutcome measure(const World& world, const std::string& point, std::size_t bytes) {
  return run_groups(world.statement() + "point id=1 message_bytes=" + std::to_string(bytes) + " " +
                    point + "\n")
      .at(0);
}

class GroupTruth : public testing::TestWithParam<World> {};

TEST_P(GroupTruth, Ring) {
  for (const char* members : {"0:1", "0:2", "3,1,0,7", "0:12"}) {
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{8}, std::size_t{65536}}) {
      for (const char* order : {"natural", "random"}) {
        const auto o = measure(
            GetParam(), "pattern=ring members=" + std::string(members) + " order=" + order, bytes);
        const double truth = GetParam().crossing(2, static_cast<double>(bytes));
        EXPECT_NEAR(o.estimate->median_ns / truth, 1, 1e-6) << members << ' ' << bytes;
        EXPECT_EQ(o.integrity, Integrity::ok);
        EXPECT_EQ(o.messages_per_operation, 2 * o.member_ns.size());
        for (const double ns : o.member_ns) EXPECT_NEAR(ns / truth, 1, 1e-3);
        EXPECT_EQ(o.sent_bytes.at(0), 2 * bytes * (o.operations + 1));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Worlds, GroupTruth,
                         testing::Values(World{1000, 0.08, 10}, World{1500, 0.1, 100},
                                         World{300, 8.5, 200}));

}  // namespace
}  // namespace wireproof
