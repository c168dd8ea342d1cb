// Collectives and congestion on the model equal their closed forms
// (docs/reference/engine-interface.md).
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>

#include "base/failure.hpp"
#include "group_in_process.hpp"
#include "measure/congestion.hpp"
#include "measure/floor.hpp"
#include "measure/overlap.hpp"
#include "pattern/group/float_payload.hpp"
#include "transport/model/collectives.hpp"

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
  double hop(double bytes) const { return latency + 2 * overhead + occupancy(bytes); }

  double barrier(int n) const { return std::bit_width(unsigned(n - 1)) * hop(0); }
  /// The time after which the last member of a subtree of `n` members has the data.
  double broadcast(int n, double bytes) const {
    double last = 0;
    double sent = 0;
    for (int step = int(std::bit_ceil(unsigned(n))) / 2; step > 0; step /= 2) {
      if (step >= n) continue;
      last = std::max(last, sent + hop(bytes) + broadcast(std::min(step, n - step), bytes));
      sent += std::max(overhead, occupancy(bytes));
    }
    return last;
  }
  double allreduce(int n, double bytes) const {
    const bool doubles = std::has_single_bit(unsigned(n));
    double sum = 0;
    for (int step = 1; step < n; step *= 2)
      sum += hop((doubles ? 1 : std::min(step, n - step)) * bytes);
    return sum;
  }
  double around(int n, double bytes) const { return (n - 1) * hop(bytes); }

  double of(const std::string& pattern, int n, double bytes) const {
    if (pattern == "barrier") return barrier(n);
    if (pattern == "broadcast") return broadcast(n, bytes);
    if (pattern == "allreduce") return allreduce(n, bytes);
    return around(n, bytes);
  }
};

GroupOutcome measure(const World& world, const std::string& point, std::size_t bytes) {
  return run_groups(world.statement() + "point id=1 message_bytes=" + std::to_string(bytes) + " " +
                    point + "\n")
      .at(0);
}

const char* const kCollectives[] = {"barrier", "broadcast", "allreduce", "allgather", "alltoall"};

class CollectiveTruth : public testing::TestWithParam<World> {};

TEST_P(CollectiveTruth, EveryCount) {
  for (const std::string pattern : kCollectives) {
    for (const int n : {2, 3, 4, 5, 7, 8, 13, 16}) {
      for (const std::size_t bytes : {std::size_t{8}, std::size_t{65536}}) {
        const std::size_t size = pattern == "barrier" ? 0 : bytes;
        const auto o =
            measure(GetParam(), "pattern=" + pattern + " members=3:" + std::to_string(n + 2), size);
        const double truth = GetParam().of(pattern, n, double(size));
        EXPECT_NEAR(o.estimate->median_ns / truth, 1, 1e-6) << pattern << ' ' << n << ' ' << size;
        EXPECT_EQ(o.integrity, Integrity::ok) << pattern << n;
        EXPECT_EQ(o.messages_per_operation, std::uint64_t(n));
        EXPECT_FALSE(o.exact);
        EXPECT_NEAR(*std::max_element(o.member_ns.begin(), o.member_ns.end()) / truth, 1, 1e-3);
      }
    }
  }
}

TEST_P(CollectiveTruth, TheLeastThatAnyAlgorithmMustMove) {
  constexpr std::uint64_t kSize = 4096;
  const std::map<std::string, std::array<std::uint64_t, 4>> least = {
      // sent by member 0 and by the last one, received by both
      {"barrier", {0, 0, 0, 0}},
      {"broadcast", {kSize, 0, 0, kSize}},
      {"allreduce", {kSize, kSize, kSize, kSize}},
      {"allgather", {kSize, kSize, 4 * kSize, 4 * kSize}},
      {"alltoall", {4 * kSize, 4 * kSize, 4 * kSize, 4 * kSize}}};
  for (const auto& [pattern, each] : least) {
    for (const char* blocking : {"0", "1"}) {
      const auto o = measure(GetParam(), "pattern=" + pattern + " members=0:4 blocking=" + blocking,
                             pattern == "barrier" ? 0 : kSize);
      const std::uint64_t operations = o.operations + 1;
      EXPECT_EQ(o.sent_bytes.front(), each[0] * operations) << pattern;
      EXPECT_EQ(o.sent_bytes.back(), each[1] * operations) << pattern;
      EXPECT_EQ(o.received_bytes.front(), each[2] * operations) << pattern;
      EXPECT_EQ(o.received_bytes.back(), each[3] * operations) << pattern;
    }
  }
}

TEST_P(CollectiveTruth, Suites) {
  for (const std::string pattern : kCollectives) {
    const std::size_t bytes = pattern == "barrier" ? 0 : 1024;
    const std::string point = "pattern=" + pattern + " members=0:7 iterations=100 formula=";
    const double truth = GetParam().of(pattern, 8, double(bytes));
    const auto imb = measure(GetParam(), point + "imb-mpi1", bytes);
    EXPECT_NEAR(imb.formula_value_ns.value() / truth, 1, 1e-6) << pattern;
    EXPECT_EQ(imb.counted_operations, 100U);
    const auto osu = measure(GetParam(), point + "osu", bytes);
    const double mean = std::accumulate(osu.member_ns.begin(), osu.member_ns.end(), 0.0) / 8;
    EXPECT_NEAR(osu.formula_value_ns.value(), mean, 1e-6);
    if (pattern != "broadcast") {
      EXPECT_NEAR(mean / truth, 1, 1e-6) << pattern;
    }
    EXPECT_LE(mean, truth * (1 + 1e-9));
  }
}

/// The model's collectives progress by themselves up to the eager limit, and not at all above it.
TEST_P(CollectiveTruth, NonBlockingWithItsOverlap) {
  for (const std::string pattern : kCollectives) {
    for (const std::size_t bytes : {std::size_t{1024}, std::size_t{65536}}) {
      if (pattern == "barrier" && bytes > 1024) continue;
      const std::size_t size = pattern == "barrier" ? 0 : bytes;
      const auto o = measure(GetParam(), "pattern=" + pattern + " members=0:6 blocking=0", size);
      const double truth = GetParam().of(pattern, 7, double(size));
      EXPECT_NEAR(o.estimate->median_ns / truth, 1, 1e-6) << pattern << bytes;
      ASSERT_TRUE(o.overlap.has_value());
      EXPECT_NEAR(o.overlap->pure_ns / truth, 1, 1e-6);
      EXPECT_NEAR(o.overlap->compute_ns / truth, 1, 1e-5);
      EXPECT_NEAR(o.overlap->total_ns / truth, bytes > 16384 ? 2 : 1, 1e-5) << pattern << bytes;
      EXPECT_NEAR(o.overlap->share, bytes > 16384 ? 0 : 1, 1e-5) << pattern << bytes;
      EXPECT_EQ(o.integrity, Integrity::ok);
      EXPECT_GT(o.member_ns.back(), 0);
    }
  }
}

/// Every member has a separate port, so the streams do not slow the ping-pongs.
TEST_P(CollectiveTruth, CongestionIsTheHalfRoundTripInBothPhases) {
  for (const char* who : {"pairs=0-1 load=2-3", "pairs=6-2,0-5 load=1-3,7-4"}) {
    const auto o = measure(GetParam(), "pattern=congestion " + std::string(who), 1000);
    const double truth = GetParam().hop(1000);
    const std::uint64_t pairs = who[9] == ' ' ? 1 : 2;
    EXPECT_NEAR(o.estimate->median_ns / truth, 1, 1e-5);
    for (const auto& phase : {o.quiet, o.loaded}) {
      ASSERT_TRUE(phase.has_value());
      EXPECT_GE(phase->samples, 6 * pairs);
      EXPECT_EQ(phase->samples % pairs, 0U);
      for (const double ns : {phase->p50_ns, phase->p95_ns, phase->p99_ns, phase->max_ns}) {
        EXPECT_NEAR(ns / truth, 1, 1e-5);
      }
    }
    const std::size_t load = 2 * pairs;  // its first member
    EXPECT_EQ(o.messages_per_operation, 2 * pairs);
    EXPECT_TRUE(o.exact);
    EXPECT_EQ(o.sent_bytes[0], 1000 * (o.operations + 1));
    EXPECT_EQ(o.sent_bytes[0], o.received_bytes[1]);
    EXPECT_EQ(o.received_bytes[0], o.sent_bytes[1]);
    EXPECT_GT(o.sent_bytes[load], 10U * 65536);
    EXPECT_EQ(o.sent_bytes[load] % 65536, 0U);
    EXPECT_EQ(o.sent_bytes[load], o.received_bytes[load + 1]);
    EXPECT_EQ(o.received_bytes[load], 0U);
    EXPECT_EQ(o.integrity, Integrity::ok);
    for (const double ns : o.member_ns) EXPECT_GT(ns, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Worlds, CollectiveTruth,
                         testing::Values(World{1000, 0.08, 10}, World{300, 8.5, 200}));

TEST(Collectives, AThousandMembers) {
  const World w{1000, 0.08, 10};
  for (const std::string pattern : {"barrier", "broadcast", "allreduce"}) {
    const std::size_t bytes = pattern == "barrier" ? 0 : 8;
    const auto o = measure(w, "pattern=" + pattern + " members=0:999", bytes);
    EXPECT_NEAR(o.estimate->median_ns / w.of(pattern, 1000, double(bytes)), 1, 1e-6) << pattern;
  }
}

TEST(Collectives, NullMovesNothingAndHasAFloor) {
  for (const std::string pattern : kCollectives) {
    for (const char* blocking : {"1", "0"}) {
      const auto o = run_groups(
                         "wireproof-plan 1\ntransport kind=null\npolicy warmup_min_operations=20 "
                         "warmup_min_us=20 block_us=50 point_budget_ms=50\npoint id=1 pattern=" +
                         pattern + " members=0:3 blocking=" + blocking +
                         " message_bytes=" + (pattern == "barrier" ? "0" : "64") + "\n")
                         .at(0);
      EXPECT_EQ(o.integrity, Integrity::unchecked) << pattern;
      EXPECT_EQ(o.overlap.has_value(), *blocking == '0');
    }
  }
  using enum Pattern;
  for (const Pattern p : {barrier, broadcast, allreduce, allgather, alltoall, congestion}) {
    EXPECT_GT(harness_floor_ns(p, Form::latency, test_clock()), 0);
  }
}

/// One member sends a payload that the others do not expect.
TEST(Collectives, ACorruptPayloadIsSeenWhereItArrives) {
  for (const std::string pattern :
       {"broadcast", "allreduce", "allgather", "alltoall", "allreduce blocking=0", "congestion"}) {
    for (const int liar : {0, 1, 2, 3}) {
      const std::string who =
          pattern == "congestion" ? " pairs=0-1 load=2-3 load_bytes=64" : " members=0:3";
      const Plan plan = parse_plan(World{1000, 0.1, 10}.statement() +
                                   "point id=1 message_bytes=64 pattern=" + pattern + who + "\n");
      const auto transport = open_model({});
      transport->configure(plan);
      int saw = 0;
      transport->run_group(plan.points[0].members, test_clock(), [&](GroupEnd& end) {
        const auto runner =
            end.make_runner(group_shape_of(plan.points[0], plan.policy, end, plan.seed));
        if (!runner->verify(end.member() == liar ? 5 : 6)) ++saw;
      });
      EXPECT_GE(saw, 1) << pattern << liar;
    }
  }
}

TEST(FloatPayload, SumsAreExactAndOneWrongBitIsSeen) {
  for (const int members : {1, 2, 30, 31, 32, 1000}) {
    std::vector<std::byte> sums(400);
    std::vector<std::byte> addends(400);
    for (int m = 0; m < members; ++m) {
      fill_addends(addends, 9, m);
      made_of_messages::add_floats(sums.data(), addends.data(), sums.size());
    }
    EXPECT_TRUE(sums_are(sums, 9, members));
    EXPECT_FALSE(sums_are(sums, 10, members));
    EXPECT_FALSE(sums_are(sums, 9, members + 1));
    sums[377] ^= std::byte{1};
    EXPECT_FALSE(sums_are(sums, 9, members));
  }
}

TEST(Overlap, ShareIsWithinItsBounds) {
  EXPECT_DOUBLE_EQ(overlap_share(10, 10, 10), 1);
  EXPECT_DOUBLE_EQ(overlap_share(10, 10, 20), 0);
  EXPECT_DOUBLE_EQ(overlap_share(10, 10, 15), 0.5);
  EXPECT_DOUBLE_EQ(overlap_share(10, 20, 25), 0.5);
  EXPECT_DOUBLE_EQ(overlap_share(10, 10, 40), 0);
  EXPECT_DOUBLE_EQ(overlap_share(10, 10, 5), 1);
  EXPECT_DOUBLE_EQ(overlap_share(0, 10, 5), 0);
}

TEST(Quantiles, AreNearestRanks) {
  std::vector<double> values(200);
  std::iota(values.rbegin(), values.rend(), 1.0);
  const Quantiles q = quantiles_of(values);
  EXPECT_EQ(q.samples, 200U);
  EXPECT_EQ(q.p50_ns, 100);
  EXPECT_EQ(q.p95_ns, 190);
  EXPECT_EQ(q.p99_ns, 198);
  EXPECT_EQ(q.max_ns, 200);
  EXPECT_EQ(quantiles_of({7}).p50_ns, 7);
  EXPECT_EQ(most_round_trips(1), 32768U);
  EXPECT_EQ(most_round_trips(1'000'000), 6U);
}

struct BadLine {
  const char* line;
  const char* says;
};
class BadCollective : public testing::TestWithParam<BadLine> {};

TEST_P(BadCollective, NamesTheLineAndTheCause) {
  try {
    parse_plan("wireproof-plan 1\ntransport kind=null\npoint id=1 " + std::string(GetParam().line) +
               "\n");
    FAIL() << GetParam().line;
  } catch (const Failure& failure) {
    const std::string said = failure.what();
    EXPECT_NE(said.find("line 3"), std::string::npos) << said;
    EXPECT_NE(said.find(GetParam().says), std::string::npos) << said;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Plan, BadCollective,
    testing::Values(
        BadLine{"pattern=allreduce message_bytes=6 members=0:3", "multiple of 4"},
        BadLine{"pattern=allreduce message_bytes=0 members=0:3", "1 or more"},
        BadLine{"pattern=barrier message_bytes=8 members=0:3", "message_bytes must be 0"},
        BadLine{"pattern=broadcast message_bytes=0 members=0:3", "1 or more"},
        BadLine{"pattern=alltoall message_bytes=1073741824 members=0:9", "2 GiB"},
        BadLine{"pattern=allgather message_bytes=8", "allgather needs members="},
        BadLine{"pattern=barrier message_bytes=0 members=3", "one rank"},
        BadLine{"pattern=barrier message_bytes=0 members=0:3 pairs=0-1", "\"pairs\""},
        BadLine{"pattern=barrier message_bytes=0 members=0:3 order=random", "order= is for ring"},
        BadLine{"pattern=barrier message_bytes=0 members=0:3 formula=hpcc", "hpcc has no barrier"},
        BadLine{"pattern=alltoall message_bytes=8 members=0:3 formula=imb-p2p", "no alltoall"},
        BadLine{"pattern=alltoall message_bytes=8 members=0:3 blocking=0 formula=osu",
                "blocking=0 has only formula robust"},
        BadLine{"pattern=alltoall message_bytes=8 members=0:3 blocking=2", "blocking=2"},
        BadLine{"pattern=ring message_bytes=8 members=0:3 blocking=0", "\"blocking\""},
        BadLine{"pattern=allreduce message_bytes=8 members=0:3 form=stream", "only the form"},
        BadLine{"pattern=congestion message_bytes=8 pairs=0-1 load=2-3 members=0:3", "\"members\""},
        BadLine{"pattern=congestion message_bytes=8 pairs=0-1", "congestion needs load="},
        BadLine{"pattern=congestion message_bytes=8 load=0-1", "congestion needs pairs="},
        BadLine{"pattern=congestion message_bytes=8 pairs=0-1 load=1-2", "load names rank 1 again"},
        BadLine{"pattern=congestion message_bytes=8 pairs=0-0 load=1-2", "rank 0 again"},
        BadLine{"pattern=congestion message_bytes=8 pairs=0-1 load=2",
                "\"2\" is not ORIGIN-TARGET"},
        BadLine{"pattern=congestion message_bytes=8 pairs=0-1, load=2-3", "\"\" is not"},
        BadLine{"pattern=congestion message_bytes=8 pairs=0-1 load=2-3-4", "is not ORIGIN-TARGET"},
        BadLine{"pattern=congestion message_bytes=8 pairs=0-1 load=2-3 load_bytes=0", "load_bytes"},
        BadLine{"pattern=congestion message_bytes=8 pairs=0-1 load=2-3 formula=osu",
                "no congestion"},
        BadLine{"pattern=pingpong message_bytes=8 pairs=0-1 load=2-3", "\"load\""}));

TEST(Plan, ReadsCongestion) {
  const Plan plan = parse_plan(
      "wireproof-plan 1\ntransport kind=null\n"
      "point id=1 pattern=congestion message_bytes=8 pairs=7-1,3-4 load=9-2 load_bytes=4096\n");
  EXPECT_EQ(plan.points.at(0).members, (std::vector<int>{7, 1, 3, 4, 9, 2}));
  EXPECT_EQ(plan.points[0].watched_pairs, 2);
  EXPECT_EQ(plan.points[0].load_bytes, 4096U);
  EXPECT_EQ(plan.points[0].highest_rank, 9);
  EXPECT_TRUE(plan.points[0].pairs.empty());
}

}  // namespace
}  // namespace wireproof
