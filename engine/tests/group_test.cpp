// Group patterns on the model equal their closed forms (docs/reference/engine-interface.md).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/failure.hpp"
#include "base/fiber_set.hpp"
#include "group_in_process.hpp"
#include "measure/floor.hpp"

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

  /// A member that sends `count` messages and waits for as many, with all members in step.
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

TEST_P(GroupTruth, HpccRingIsHalfATurn) {
  for (const char* order : {"natural", "random"}) {
    for (const std::size_t bytes : {std::size_t{8}, std::size_t{2'000'000}}) {
      const auto o = measure(
          GetParam(), "pattern=ring formula=hpcc members=4:8 order=" + std::string(order), bytes);
      const double truth = GetParam().crossing(2, static_cast<double>(bytes)) / 2;
      EXPECT_NEAR(o.formula_value_ns.value() / truth, 1, 1e-6) << order << bytes;
      const std::size_t rings = *order == 'n' ? 1 : (bytes == 8 ? 30 : 10);
      EXPECT_EQ(o.batch_ticks.size(), rings * (bytes == 8 ? 8 : 3));
      EXPECT_EQ(o.sent_bytes.at(3), 2 * bytes * (o.operations + 1));
      EXPECT_EQ(o.integrity, Integrity::ok);
    }
  }
}

/// Valid while half a window covers the way of an acknowledgement.
TEST_P(GroupTruth, MessageRate) {
  for (const char* members : {"0,1", "5,0,2,3", "0:11"}) {
    for (const std::size_t bytes : {std::size_t{8}, std::size_t{65536}}) {
      const auto o = measure(
          GetParam(), "pattern=message_rate window=1024 members=" + std::string(members), bytes);
      const double truth = std::max(GetParam().overhead, GetParam().occupancy(double(bytes)));
      // A segment of slow operations begins with an empty pipe, so its first batch includes the
      // time to fill the pipe.
      EXPECT_NEAR(o.estimate->median_ns / truth, 1, bytes == 8 ? 1e-6 : 1e-3)
          << members << ' ' << bytes;
      EXPECT_EQ(o.messages_per_operation, o.member_ns.size() / 2);
      EXPECT_EQ(o.sent_bytes.front(), bytes * (o.operations + 1));
      EXPECT_EQ(o.received_bytes.front(), 0U);
      EXPECT_EQ(o.received_bytes.back(), bytes * (o.operations + 1));
      EXPECT_EQ(o.integrity, Integrity::ok);
    }
  }
}

TEST_P(GroupTruth, MessageRateOfTheSuites) {
  const World& w = GetParam();
  for (const char* formula : {"osu", "imb-mpi1"}) {
    for (const std::size_t bytes : {std::size_t{8}, std::size_t{65536}}) {
      const auto o = measure(w,
                             "pattern=message_rate window=16 members=0:5 iterations=320 formula=" +
                                 std::string(formula),
                             bytes);
      const double occupied = w.occupancy(double(bytes));
      const double window =
          2 * w.latency + 2 * w.overhead + 15 * std::max(w.overhead, occupied) + occupied;
      EXPECT_NEAR(o.formula_value_ns.value() / (window / 16), 1, 1e-6) << formula << bytes;
      EXPECT_EQ(o.window_used, 16);
      EXPECT_EQ(o.counted_operations, 320U);
    }
  }
}

TEST_P(GroupTruth, Incast) {
  for (const char* members : {"0,1", "3,0,2", "0:12"}) {
    for (const std::size_t bytes : {std::size_t{8}, std::size_t{65536}}) {
      const auto o =
          measure(GetParam(), "pattern=incast window=1024 members=" + std::string(members), bytes);
      const auto senders = double(o.member_ns.size() - 1);
      const double truth =
          senders * std::max(GetParam().overhead, GetParam().occupancy(double(bytes)));
      EXPECT_NEAR(o.estimate->median_ns / truth, 1, bytes == 8 ? 1e-6 : 1e-3)
          << members << ' ' << bytes;
      EXPECT_EQ(o.received_bytes.front(), bytes * std::uint64_t(senders) * (o.operations + 1));
      EXPECT_EQ(o.sent_bytes.back(), bytes * (o.operations + 1));
      EXPECT_EQ(o.integrity, Integrity::ok);
    }
  }
}

TEST_P(GroupTruth, AllToAllByChunksOfTheWindow) {
  for (const char* members : {"0,1", "4,0,2", "0:12"}) {
    for (const int window : {1, 5, 64}) {
      const auto o = measure(GetParam(),
                             "pattern=all_to_all window=" + std::to_string(window) +
                                 " members=" + std::string(members),
                             8192);
      double truth = 0;
      const int others = static_cast<int>(o.member_ns.size()) - 1;
      for (int done = 0; done < others; done += window) {
        truth += GetParam().crossing(std::min(window, others - done), 8192);
      }
      EXPECT_NEAR(o.estimate->median_ns / truth, 1, 1e-6) << members << ' ' << window;
      EXPECT_EQ(o.messages_per_operation, std::uint64_t(others) * (std::uint64_t(others) + 1));
      EXPECT_EQ(o.received_bytes.back(), std::uint64_t(others) * 8192 * (o.operations + 1));
      EXPECT_EQ(o.integrity, Integrity::ok);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Worlds, GroupTruth,
                         testing::Values(World{1000, 0.08, 10}, World{1500, 0.1, 100},
                                         World{300, 8.5, 200}));

TEST(Groups, AThousandMembers) {
  const World w{1000, 0.08, 10};
  EXPECT_NEAR(measure(w, "pattern=ring members=0:999 order=random", 8).estimate->median_ns,
              w.crossing(2, 8), 1e-3);
  const auto incast = measure(w, "pattern=incast members=0:999", 4096);
  EXPECT_NEAR(incast.estimate->median_ns / (999 * w.occupancy(4096)), 1, 1e-6);
  EXPECT_EQ(incast.integrity, Integrity::ok);
}

/// A rank that sends at half the rate makes the ring as slow as its own port.
TEST(Groups, AFaultOfOneMemberIsTheSlowestMembers) {
  const World w{1000, 0.1, 0};
  const auto o =
      run_groups(w.statement() +
                 "model_fault rank=2 tx=0.5\n"
                 "point id=1 pattern=message_rate members=0:5 message_bytes=10000\n"
                 "point id=2 pattern=message_rate members=0,1,3:6 message_bytes=10000\n");
  EXPECT_NEAR(o.at(0).estimate->median_ns, 2000, 0.1);
  EXPECT_NEAR(o.at(0).member_ns.at(1), 1000, 50);
  EXPECT_NEAR(o.at(0).member_ns.at(2), 2000, 50);
  EXPECT_NEAR(o.at(1).estimate->median_ns, 1000, 0.1);
}

TEST(Groups, NoiseIsSeededAndSeen) {
  const World w{1000, 0.08, 10};
  std::string noisy = w.statement();
  noisy.replace(noisy.find("rendezvous_ns"), 0, "noise=0.05 ");
  const std::string point = "point id=1 pattern=ring members=0:3 message_bytes=8\n";
  const auto one = run_groups(noisy + point).at(0);
  EXPECT_EQ(one.batch_ticks, run_groups(noisy + point).at(0).batch_ticks);
  EXPECT_GT(one.estimate->median_ns, w.crossing(2, 8));  // the slowest of four members
}

const char* const kEveryGroup[] = {"ring",
                                   "ring formula=hpcc",
                                   "message_rate",
                                   "message_rate formula=osu iterations=128",
                                   "message_rate formula=imb-mpi1 iterations=128",
                                   "incast",
                                   "all_to_all"};

TEST(Groups, NullMovesNothingAndSaysSo) {
  for (const char* pattern : kEveryGroup) {
    const auto outcomes = run_groups(
        "wireproof-plan 1\ntransport kind=null\npolicy warmup_min_operations=20 warmup_min_us=20 "
        "block_us=50 point_budget_ms=50\npoint id=1 message_bytes=64 members=0:3 pattern=" +
        std::string(pattern) + "\n");
    EXPECT_EQ(outcomes.at(0).integrity, Integrity::unchecked) << pattern;
    EXPECT_FALSE(outcomes[0].batch_ticks.empty());
    EXPECT_EQ(outcomes[0].member_ns.size(), 4U);
  }
}

TEST(Groups, TheFloorIsPositiveForEveryPattern) {
  using enum Pattern;
  for (const Pattern pattern : {ring, message_rate, incast, all_to_all}) {
    EXPECT_GT(harness_floor_ns(pattern, Form::stream, test_clock()), 0);
  }
}

/// One member sends a payload that the others do not expect.
TEST(Groups, ACorruptPayloadIsSeenWhereItArrives) {
  for (const char* pattern : kEveryGroup) {
    const Plan plan =
        parse_plan(World{1000, 0.1, 10}.statement() +
                   "point id=1 message_bytes=64 members=0:3 pattern=" + pattern + "\n");
    const auto transport = open_model({});
    transport->configure(plan);
    int saw = 0;
    transport->run_group(plan.points[0].members, test_clock(), [&](GroupEnd& end) {
      const auto runner =
          end.make_runner(group_shape_of(plan.points[0], plan.policy, end, plan.seed));
      if (!runner->verify(end.member() == 1 ? 5 : 6)) ++saw;
    });
    EXPECT_GE(saw, 1) << pattern;
  }
}

TEST(Groups, MembersThatWaitForNobodyAreAnError) {
  const Plan plan = parse_plan(World{1000, 0.1, 10}.statement());
  const auto transport = open_model({});
  transport->configure(plan);
  const auto deaf = [](GroupEnd& end) {
    std::byte word{};
    if (end.member() > 0) end.broadcast({&word, 1});
  };
  EXPECT_THROW(transport->run_group({0, 1, 2}, test_clock(), deaf), Failure);
  const auto failing = [](GroupEnd& end) {
    if (end.member() == 1) throw cannot_measure("planted", "planted");
  };
  EXPECT_THROW(transport->run_group({0, 1, 2}, test_clock(), failing), Failure);
}

TEST(Groups, ControlReachesEveryMember) {
  const Plan plan = parse_plan(World{1000, 0.1, 10}.statement());
  const auto transport = open_model({});
  transport->configure(plan);
  for (const int count : {2, 3, 7, 8, 33}) {
    std::vector<int> members(static_cast<std::size_t>(count));
    for (int m = 0; m < count; ++m) members[static_cast<std::size_t>(m)] = m;
    int reached = 0;
    transport->run_group(members, test_clock(), [&](GroupEnd& end) {
      std::byte word{end.member() == 0 ? std::byte{7} : std::byte{0}};
      end.broadcast({&word, 1});
      reached += word == std::byte{7} ? 1 : 0;
      double values[2] = {double(end.member()), -1.0 - end.member()};
      end.reduce(Reduction::maximum, values);
      double one[1] = {1};
      end.reduce(Reduction::sum, one);
      const std::vector<double> all = end.gather(10.0 * end.member());
      if (end.member() != 0) return;
      EXPECT_EQ(values[0], count - 1);
      EXPECT_EQ(values[1], -1);
      EXPECT_EQ(one[0], count);
      ASSERT_EQ(all.size(), std::size_t(count));
      for (int m = 0; m < count; ++m) EXPECT_EQ(all[std::size_t(m)], 10.0 * m);
    });
    EXPECT_EQ(reached, count);
  }
}

struct BadGroup {
  const char* line;
  const char* says;
};
class BadGroupLine : public testing::TestWithParam<BadGroup> {};

TEST_P(BadGroupLine, NamesTheLineAndTheKey) {
  try {
    parse_plan("wireproof-plan 1\ntransport kind=null\npoint id=1 message_bytes=8 " +
               std::string(GetParam().line) + "\n");
    FAIL() << GetParam().line;
  } catch (const Failure& failure) {
    const std::string said = failure.what();
    EXPECT_NE(said.find("line 3"), std::string::npos) << said;
    EXPECT_NE(said.find(GetParam().says), std::string::npos) << said;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Plan, BadGroupLine,
    testing::Values(BadGroup{"pattern=ring", "ring needs members="},
                    BadGroup{"pattern=ring members=", "ring needs members="},
                    BadGroup{"pattern=ring members=4", "members=4 is one rank"},
                    BadGroup{"pattern=message_rate members=0:2", "members has 3 ranks"},
                    BadGroup{"pattern=incast members=0:3,2", "members names rank 2 twice"},
                    BadGroup{"pattern=ring members=3:1", "\"3:1\" is not RANK or FIRST:LAST"},
                    BadGroup{"pattern=ring members=0:", "\"0:\" is not"},
                    BadGroup{"pattern=ring members=0,,1", "\"\" is not"},
                    BadGroup{"pattern=ring members=0:99999999999", "is not RANK"},
                    BadGroup{"pattern=ring members=-1:4", "is not RANK"},
                    BadGroup{"pattern=ring members=0:3 order=best", "order=best is unknown"},
                    BadGroup{"pattern=incast members=0:3 order=random", "order= is for ring"},
                    BadGroup{"pattern=ring members=0:3 pairs=0-1", "\"pairs\""},
                    BadGroup{"pattern=pingpong pairs=0-1 members=0:3", "\"members\""},
                    BadGroup{"pattern=ring members=0:3 formula=osu", "formula osu has no ring"},
                    BadGroup{"pattern=incast members=0:3 formula=hpcc",
                             "formula hpcc has no incast"},
                    BadGroup{"pattern=pingpong pairs=0-1 formula=hpcc", "hpcc has only ring"},
                    BadGroup{"pattern=ring members=0:3 form=stream", "only the form latency"}));

TEST(Plan, ReadsMembersInTheirOrder) {
  const Plan plan = parse_plan(
      "wireproof-plan 1\ntransport kind=null\n"
      "point id=1 pattern=ring message_bytes=8 members=7,0:2,5 order=random\n");
  EXPECT_EQ(plan.points.at(0).members, (std::vector<int>{7, 0, 1, 2, 5}));
  EXPECT_EQ(plan.points[0].order, RingOrder::random);
  EXPECT_EQ(plan.points[0].highest_rank, 7);
  EXPECT_EQ(plan.points[0].form, Form::latency);
}

}  // namespace
}  // namespace wireproof
