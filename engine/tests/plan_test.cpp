#include "plan/plan.hpp"

#include <gtest/gtest.h>

#include "base/failure.hpp"

namespace wireproof {
namespace {

constexpr const char* kHead = "wireproof-plan 1\ntransport kind=mpi\n";

std::string complaint(const std::string& text) {
  try {
    parse_plan(text);
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.status(), ExitStatus::bad_plan);
    return failure.what();
  }
  return "no complaint";
}

std::string complaint_about(const std::string& line) { return complaint(kHead + line + "\n"); }

TEST(Plan, ReadsEveryStatement) {
  const Plan plan = parse_plan(
      "wireproof-plan 1\n"
      "run id=r%201 seed=18446744073709551615\n"
      "transport kind=tcp expect=Intel%28R%29\n"
      "rank index=1 host=n%251 nic=hsn0 address=10.0.0.1\n"
      "policy latency_half_width=0.05 yield=1 in_flight_bytes=1048576\r\n"
      "witness idle_ms=5 root=/tmp/x\n"
      "model latency_ns=1000 gap_ns_per_byte=0.1 eager_limit_bytes=8192 rendezvous_ns=500\n"
      "\n"
      "fact kind=command argv=ip,-o,a%2Cb limit_bytes=10\n"
      "point id=7 pattern=put form=stream message_bytes=8 pairs=0-1,3-2 formula=osu window=32 "
      "window_kind=create repeat=2 budget_ms=9 iterations=100 least_operations=7\n");
  EXPECT_EQ(plan.run_id, "r 1");
  EXPECT_EQ(plan.seed, 18446744073709551615ULL);
  EXPECT_EQ(plan.transport, TransportKind::tcp);
  EXPECT_EQ(plan.expect, "Intel(R)");
  EXPECT_EQ(plan.ranks.at(0).host, "n%1");
  EXPECT_TRUE(plan.policy.yield);
  EXPECT_EQ(plan.policy.in_flight_bytes, 1048576U);
  EXPECT_EQ(plan.policy.point_budget_ms, 1000);  // default
  EXPECT_EQ(plan.witness.root, "/tmp/x");
  EXPECT_DOUBLE_EQ(plan.model->gap_ns_per_byte, 0.1);
  EXPECT_EQ(plan.facts.at(0).argv, (std::vector<std::string>{"ip", "-o", "a,b"}));
  const Point& point = plan.points.at(0);
  EXPECT_EQ(point.form, Form::stream);
  EXPECT_EQ(point.pairs, (std::vector<std::pair<int, int>>{{0, 1}, {3, 2}}));
  EXPECT_EQ(point.window_kind, WindowKind::create);
  EXPECT_EQ(point.budget_ms, 9);
  EXPECT_EQ(point.least_operations, 7);
}

TEST(Plan, ImpliesTheForm) {
  const Plan plan = parse_plan(std::string(kHead) +
                               "point id=1 pattern=stream message_bytes=8 pairs=0-1\n"
                               "point id=2 pattern=get message_bytes=8 pairs=0-1\n");
  EXPECT_EQ(plan.points.at(0).form, Form::stream);
  EXPECT_EQ(plan.points.at(1).form, Form::latency);
}

struct Bad {
  const char* line;
  const char* says;
};
class BadLine : public testing::TestWithParam<Bad> {};

TEST_P(BadLine, NamesTheLineAndWhatIsWrong) {
  const std::string said = complaint_about(GetParam().line);
  EXPECT_NE(said.find("line 3"), std::string::npos) << said;
  EXPECT_NE(said.find(GetParam().says), std::string::npos) << said;
}

INSTANTIATE_TEST_SUITE_P(
    Plan, BadLine,
    testing::Values(
        Bad{"pint id=1", "unknown keyword \"pint\""}, Bad{"run speed=1", "unknown key \"speed\""},
        Bad{"run id=a id=b", "id is given twice"}, Bad{"run  id=a", "not key=value"},
        Bad{"run seed=-1", "seed=-1"}, Bad{"run id=%4", "broken %XX"},
        Bad{"transport kind=mpi", "comes twice"}, Bad{"rank host=a", "needs index="},
        Bad{"policy yield=2", "from 0 to 1"}, Bad{"policy latency_half_width=nan", "nan"},
        Bad{"policy pin=core", "pin=core is unknown"}, Bad{"policy teardown=never", "teardown"},
        Bad{"model_fault tx=0.5", "needs rank="}, Bad{"model_fault rank=1 tx=0", "tx=0"},
        Bad{"model_fault rank=1 rx=nan", "rx=nan"}, Bad{"model_fault rank=1 rx=1.5", "rx=1.5"},
        Bad{"model_fault rank=1 latency_ns=-1", "latency_ns=-1"},
        Bad{"point id=1 pattern=put message_bytes=8 detail=some pairs=0-1", "detail=some"},
        Bad{"model_counter path=a", "needs rank="}, Bad{"model_counter rank=0", "not relative"},
        Bad{"model_counter rank=0 path=/a", "not relative"},
        Bad{"model_counter rank=0 path=ethtool/hsn0", "ethtool/INTERFACE#STATISTIC"},
        Bad{"model_counter rank=0 path=a#b", "ethtool/INTERFACE#STATISTIC"},
        Bad{"model_counter rank=0 path=a width=7", "width=7"},
        Bad{"model_counter rank=0 path=a tx_byte=-1", "tx_byte=-1"},
        Bad{"model_counter rank=0 path=a start=-1", "start=-1"},
        Bad{"model_counter rank=0 path=a per_second=nan", "per_second=nan"},
        Bad{"model_counter rank=0 path=a", "needs transport kind=model"},
        Bad{"witness settle_ms=60001", "settle_ms=60001"},
        Bad{"model latency_ns=1", "gap_ns_per_byte"}, Bad{"fact kind=file", "needs path="},
        Bad{"fact kind=command path=x", "needs argv="},
        Bad{"point id=1 pattern=cube message_bytes=8 pairs=0-1", "pattern=cube is unknown"},
        Bad{"point id=1 pattern=put pairs=0-1", "message_bytes"},
        Bad{"point id=1 pattern=put message_bytes=1e3 pairs=0-1", "1e3"},
        Bad{"point id=1 pattern=put message_bytes=4294967296 pairs=0-1", "4294967296"},
        Bad{"point id=1 pattern=put message_bytes=8", "needs pairs="},
        Bad{"point id=1 pattern=put message_bytes=8 pairs=0-0", "disjoint"},
        Bad{"point id=1 pattern=put message_bytes=8 pairs=0-1,1-2", "disjoint"},
        Bad{"point id=1 pattern=put message_bytes=8 pairs=0_1", "ORIGIN-TARGET"},
        Bad{"point id=1 pattern=stream form=latency message_bytes=8 pairs=0-1", "only the form"},
        Bad{"point id=1 pattern=put formula=imb-mpi1 message_bytes=8 pairs=0-1", "has no put"},
        Bad{"point id=1 pattern=stream formula=imb-p2p message_bytes=8 pairs=0-1", "pingpong"}));

TEST(Plan, ReadsFaultsOfTheModel) {
  const Plan plan = parse_plan(std::string(kHead) +
                               "policy pin=nic teardown=point\n"
                               "model_fault rank=3 tx=0.8 rx=0.5 latency_ns=250\n"
                               "model_fault rank=7\n"
                               "point id=1 pattern=put message_bytes=8 detail=brief pairs=0-1\n");
  ASSERT_EQ(plan.model_faults.size(), 2U);
  EXPECT_EQ(plan.model_faults[0].rank, 3);
  EXPECT_DOUBLE_EQ(plan.model_faults[0].tx, 0.8);
  EXPECT_DOUBLE_EQ(plan.model_faults[0].rx, 0.5);
  EXPECT_DOUBLE_EQ(plan.model_faults[0].latency_ns, 250);
  EXPECT_DOUBLE_EQ(plan.model_faults[1].tx, 1);
  EXPECT_EQ(plan.policy.pin, Pin::nic);
  EXPECT_EQ(plan.policy.teardown, Teardown::point);
  EXPECT_EQ(plan.points.at(0).detail, Detail::brief);
}

TEST(Plan, ReadsCountersOfTheModel) {
  const std::string head = "wireproof-plan 1\ntransport kind=model\n";
  const std::string model = "model latency_ns=1 gap_ns_per_byte=1\n";
  const std::string root = "witness root=/tmp/x/{rank} settle_ms=1200\n";
  const std::string one = "model_counter rank=1 path=ethtool/hsn0#tx_bytes_phy\n";
  const Plan plan = parse_plan(
      head + model + root + one +
      "model_counter rank=0 path=sys/class/net/a/statistics/tx_bytes start=4294967290 width=32"
      " pegs=1 refresh_ms=1000 tx_byte=0.25 rx_byte=1 tx_message=7.5 rx_message=2 per_second=1e6"
      " from_ms=5 to_ms=10\n");
  EXPECT_EQ(plan.witness.settle_ms, 1200);
  ASSERT_EQ(plan.model_counters.size(), 2U);
  EXPECT_EQ(plan.model_counters[0].path, "ethtool/hsn0");
  EXPECT_EQ(plan.model_counters[0].statistic, "tx_bytes_phy");
  EXPECT_EQ(plan.model_counters[0].width, 64);
  const ModelCounter& c = plan.model_counters[1];
  EXPECT_EQ(c.path, "sys/class/net/a/statistics/tx_bytes");
  EXPECT_EQ(c.start, 4294967290U);
  EXPECT_EQ(c.width, 32);
  EXPECT_TRUE(c.pegs);
  EXPECT_EQ(c.refresh_ms, 1000);
  EXPECT_DOUBLE_EQ(c.tx_byte, 0.25);
  EXPECT_DOUBLE_EQ(c.tx_message, 7.5);
  EXPECT_DOUBLE_EQ(c.per_second, 1e6);
  EXPECT_EQ(c.to_ms, 10);
  EXPECT_NE(complaint(head + model + one).find("needs witness root="), std::string::npos);
  EXPECT_NE(complaint(head + model + root + one + one).find("comes twice"), std::string::npos);
}

TEST(Plan, KeepsOnlyThePairsOfARank) {
  const std::string text = std::string(kHead) +
                           "point id=1 pattern=put message_bytes=8 pairs=0-1,2-3,4-5\n"
                           "point id=2 pattern=put message_bytes=8 pairs=0-2,9-4\n";
  const Plan whole = parse_plan(text);
  const Plan own = parse_plan(text, [](int rank) { return rank == 3; });
  EXPECT_EQ(whole.points.at(1).pairs.size(), 2U);
  EXPECT_EQ(own.points.at(0).pairs, (std::vector<std::pair<int, int>>{{2, 3}}));
  EXPECT_TRUE(own.points.at(1).pairs.empty());
  const std::string rings = std::string(kHead) +
                            "point id=1 pattern=ring message_bytes=8 members=0:2\n"
                            "point id=2 pattern=ring message_bytes=8 members=1:40\n";
  const Plan ring = parse_plan(rings, [](int rank) { return rank == 3; });
  EXPECT_TRUE(ring.points.at(0).members.empty());
  EXPECT_EQ(ring.points.at(0).highest_rank, 2);
  EXPECT_EQ(ring.points.at(1).members.size(), 40U);
  EXPECT_EQ(own.points.at(1).highest_rank, 9);  // so that all ranks refuse it together
  EXPECT_NE(
      complaint_about("point id=1 pattern=put message_bytes=8 pairs=5-6,6-7").find("disjoint"),
      std::string::npos);
}

TEST(Plan, RanksComeOnce) {
  EXPECT_NE(complaint(std::string(kHead) + "rank index=1 host=a\nrank index=1 host=b\n")
                .find("line 4: rank 1 comes twice"),
            std::string::npos);
  EXPECT_NE(complaint(std::string(kHead) + "model_fault rank=1\nmodel_fault rank=1\n")
                .find("line 4: the fault of rank 1 comes twice"),
            std::string::npos);
}

TEST(Plan, RefusesWholesaleNonsense) {
  EXPECT_NE(complaint("").find("no transport"), std::string::npos);
  EXPECT_NE(complaint("wireproof-plan 2\n").find("line 1"), std::string::npos);
  EXPECT_NE(complaint("wireproof-plan 1\ntransport kind=model\n").find("model statement"),
            std::string::npos);
  EXPECT_NE(complaint(std::string(kHead) + "point id=1 pattern=get message_bytes=1 pairs=0-1\n"
                                           "point id=1 pattern=get message_bytes=1 pairs=0-1\n")
                .find("line 4: point id 1 comes twice"),
            std::string::npos);
}

}  // namespace
}  // namespace wireproof
