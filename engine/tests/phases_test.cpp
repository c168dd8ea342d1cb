// Measurements with several phases, on a group with scripted times: overlap of non-blocking
// collectives, congestion, HPCC's rings.
#include "measure/phases.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "measure/congestion.hpp"
#include "measure/hpcc_rings.hpp"
#include "measure/overlap.hpp"
#include "scripted_clock.hpp"

namespace wireproof {
namespace {

using test::kNanoseconds;
using test::ScriptedClock;
using test::steady;

/// A group in which each phase's operation takes a separate scripted time.
class ScriptedGroup {
 public:
  explicit ScriptedGroup(std::function<double(Phase)> cost) : cost_(std::move(cost)) {}

  Phases phases() {
    return {.enter = [this](Phase phase, double) { entered_.push_back(phase_ = phase); },
            .time = [this](const Segment& segment, bool counted) { return time(segment, counted); },
            .elapsed_ns = [this] { return now_ns_; },
            .collect = [this](std::size_t each) { return collect(each); }};
  }
  const std::vector<Phase>& entered() const { return entered_; }
  double now_ns() const { return now_ns_; }
  std::uint64_t counted() const { return counted_; }
  int pairs = 1;

 private:
  Timing time(const Segment& segment, bool counted) {
    batches_.clear();
    now_ns_ += cost_(phase_) * segment.lead_in;
    double sum = 0;
    for (std::uint32_t i = 0; i < segment.batches; ++i) {
      double batch = 0;
      for (std::uint32_t j = 0; j < segment.granules; ++j) {
        const double one = cost_(phase_);
        batch += one;
        if (counted) trips_.push_back(one);
      }
      batches_.push_back(static_cast<Ticks>(batch));
      sum += batch;
    }
    if (counted) counted_ += segment.timed();
    now_ns_ += sum + cost_(phase_) * segment.trail;
    return {batches_, sum};
  }
  std::vector<double> collect(std::size_t each) {
    EXPECT_EQ(trips_.size(), each);
    std::vector<double> all;
    for (int pair = 0; pair < pairs; ++pair) {
      for (const double trip : trips_) all.push_back(trip * (1 + 0.5 * pair));
    }
    trips_.clear();
    return all;
  }

  std::function<double(Phase)> cost_;
  Phase phase_ = Phase::plain;
  double now_ns_ = 0;
  std::vector<Phase> entered_;
  std::vector<Ticks> batches_;
  std::vector<double> trips_;
  std::uint64_t counted_ = 0;
};

struct Share {
  double pure;
  double compute;
  double total;
  double share;
};
class Shares : public testing::TestWithParam<Share> {};
TEST_P(Shares, AreWhatTheOtherHid) {
  const Share& s = GetParam();
  EXPECT_DOUBLE_EQ(overlap_share(s.pure, s.compute, s.total), s.share);
}
INSTANTIATE_TEST_SUITE_P(Times, Shares,
                         testing::Values(Share{100, 100, 100, 1}, Share{100, 100, 200, 0},
                                         Share{100, 100, 150, 0.5}, Share{100, 50, 100, 1},
                                         Share{100, 50, 125, 0.5}, Share{50, 100, 100, 1},
                                         Share{100, 100, 90, 1}, Share{100, 100, 300, 0},
                                         Share{0, 100, 100, 0}, Share{100, 0, 100, 0}));

double overlap_cost(Phase phase, double pure, double total) {
  if (phase == Phase::overlapped) return total;
  return pure;  // a computation as long as the collective
}

TEST(MeasureOverlap, RecoversPlantedTimes) {
  for (const double total : {1'000.0, 1'500.0, 2'000.0}) {
    ScriptedGroup group([&](Phase phase) { return overlap_cost(phase, 1'000, total); });
    const Overlap found = measure_overlap(group.phases(), 1'000, kNanoseconds, Policy{}, 50e6);
    EXPECT_DOUBLE_EQ(found.pure_ns, 1'000);
    EXPECT_DOUBLE_EQ(found.compute_ns, 1'000);
    EXPECT_DOUBLE_EQ(found.total_ns, total);
    EXPECT_DOUBLE_EQ(found.share, 2 - total / 1'000);
  }
}

TEST(MeasureOverlap, PhasesTakeTurnsAndEndPlain) {
  ScriptedGroup group([](Phase phase) { return overlap_cost(phase, 1'000, 1'200); });
  measure_overlap(group.phases(), 1'000, kNanoseconds, Policy{}, 50e6);
  const std::vector<Phase>& entered = group.entered();
  ASSERT_GE(entered.size(), 5U);
  EXPECT_EQ(entered.front(), Phase::computing) << "the computation is calibrated first";
  EXPECT_EQ(entered.back(), Phase::plain);
  const std::size_t rounds = (entered.size() - 2) / 3;
  EXPECT_EQ(entered.size(), 3 * rounds + 2);
  for (std::size_t i = 0; i < rounds; ++i) {
    EXPECT_EQ(entered[1 + 3 * i], Phase::plain);
    EXPECT_EQ(entered[2 + 3 * i], Phase::computing);
    EXPECT_EQ(entered[3 + 3 * i], Phase::overlapped);
  }
}

TEST(MeasureOverlap, ThreeRoundsAtLeastAndFortyAtMost) {
  const auto rounds = [](double budget_ns) {
    ScriptedGroup group([](Phase phase) { return overlap_cost(phase, 1'000, 1'200); });
    measure_overlap(group.phases(), 1'000, kNanoseconds, Policy{}, budget_ns);
    return (group.entered().size() - 2) / 3;
  };
  EXPECT_EQ(rounds(0), 3U);
  EXPECT_EQ(rounds(1e12), 40U);
  EXPECT_GT(rounds(20e6), 3U);
  EXPECT_LT(rounds(20e6), 40U);
}

TEST(MeasureOverlap, AHiccupOfOneRoundIsNoTime) {
  int call = 0;
  ScriptedGroup group([&](Phase phase) {
    const double usual = overlap_cost(phase, 1'000, 1'500);
    return ++call < 60 ? 20 * usual : usual;  // all of the first segment
  });
  const Overlap found = measure_overlap(group.phases(), 1'000, kNanoseconds, Policy{}, 30e6);
  EXPECT_DOUBLE_EQ(found.pure_ns, 1'000);
  EXPECT_DOUBLE_EQ(found.share, 0.5);
}

struct QuantileCase {
  std::vector<double> values;
  double p50;
  double p95;
  double p99;
  double max;
};
class QuantilesOf : public testing::TestWithParam<QuantileCase> {};
TEST_P(QuantilesOf, AreNearestRanks) {
  const QuantileCase& c = GetParam();
  const Quantiles q = quantiles_of(c.values);
  EXPECT_EQ(q.samples, c.values.size());
  EXPECT_EQ(q.p50_ns, c.p50);
  EXPECT_EQ(q.p95_ns, c.p95);
  EXPECT_EQ(q.p99_ns, c.p99);
  EXPECT_EQ(q.max_ns, c.max);
}
std::vector<double> counting(int last) {
  std::vector<double> values;
  for (int i = last; i >= 1; --i) values.push_back(i);  // unordered
  return values;
}
INSTANTIATE_TEST_SUITE_P(Samples, QuantilesOf,
                         testing::Values(QuantileCase{{7}, 7, 7, 7, 7},
                                         QuantileCase{{2, 1}, 1, 2, 2, 2},
                                         QuantileCase{counting(100), 50, 95, 99, 100},
                                         QuantileCase{counting(101), 51, 96, 100, 101},
                                         QuantileCase{counting(1000), 500, 950, 990, 1000}));

TEST(MostRoundTrips, AreSharedByThePairs) {
  EXPECT_EQ(most_round_trips(0), 32'768U);
  EXPECT_EQ(most_round_trips(1), 32'768U);
  EXPECT_EQ(most_round_trips(8), 32'768U);
  EXPECT_EQ(most_round_trips(16), 16'384U);
  EXPECT_EQ(most_round_trips(1'000'000), 6U) << "an interval needs six";
}

Point congestion_point(int budget_ms = 100) {
  Point point;
  point.pattern = Pattern::congestion;
  point.watched_pairs = 1;
  point.budget_ms = budget_ms;
  return point;
}

TEST(MeasureCongestion, QuietAndLoadedAreApart) {
  ScriptedGroup group([](Phase phase) { return phase == Phase::loaded ? 8'000.0 : 2'000.0; });
  const Congestion found =
      measure_congestion(group.phases(), congestion_point(), Policy{}, kNanoseconds);
  EXPECT_EQ(group.entered(), (std::vector<Phase>{Phase::plain, Phase::loaded}));
  EXPECT_DOUBLE_EQ(found.quiet.p50_ns, 1'000) << "half of a round trip";
  EXPECT_DOUBLE_EQ(found.quiet.max_ns, 1'000);
  EXPECT_DOUBLE_EQ(found.loaded.p50_ns, 4'000);
  EXPECT_TRUE(found.samples.warm_up.stationary);
  EXPECT_EQ(found.samples.counted_operations, found.loaded.samples);
}

TEST(MeasureCongestion, BlocksHaveTheLoadedTimes) {
  ScriptedGroup group([](Phase phase) { return phase == Phase::loaded ? 8'000.0 : 2'000.0; });
  const Samples samples =
      measure_congestion(group.phases(), congestion_point(), Policy{}, kNanoseconds).samples;
  EXPECT_LE(samples.block_values.size(), 64U);
  EXPECT_GE(samples.block_values.size(), 6U);
  const auto length = static_cast<double>(samples.operations_per_batch);
  for (std::size_t i = 0; i < samples.block_values.size(); ++i) {
    EXPECT_DOUBLE_EQ(samples.block_values[i], 4'000 * length);
    EXPECT_EQ(samples.batch_ticks[i], static_cast<Ticks>(8'000 * length));
    EXPECT_EQ(samples.block_batches[i], 1U);
  }
}

TEST(MeasureCongestion, EndsWithinTheBudget) {
  for (const double trip : {1'000.0, 50'000.0, 400'000.0}) {
    ScriptedGroup group([&](Phase) { return trip; });
    measure_congestion(group.phases(), congestion_point(100), Policy{}, kNanoseconds);
    EXPECT_LT(group.now_ns(), 120e6) << trip;
  }
}

TEST(MeasureCongestion, SlowRoundTripsGetTheirSix) {
  ScriptedGroup group([](Phase) { return 3e6; });
  const Congestion found =
      measure_congestion(group.phases(), congestion_point(100), Policy{}, kNanoseconds);
  EXPECT_GE(found.loaded.samples, 6U);
  EXPECT_LT(group.now_ns(), 250e6);
}

TEST(MeasureCongestion, AFixedCountIsKept) {
  Point point = congestion_point();
  point.iterations = 500;
  ScriptedGroup group([](Phase) { return 2'000.0; });
  const Congestion found = measure_congestion(group.phases(), point, Policy{}, kNanoseconds);
  EXPECT_EQ(found.quiet.samples, 500U);
  EXPECT_EQ(found.loaded.samples, 500U);
  EXPECT_EQ(found.samples.stop, Stop::iterations);
}

TEST(MeasureCongestion, TheSlowestPairMakesABlocksBatch) {
  ScriptedGroup group([](Phase) { return 2'000.0; });
  group.pairs = 3;  // the others take one and a half times and twice as long
  Point point = congestion_point();
  point.watched_pairs = 3;
  const Congestion found = measure_congestion(group.phases(), point, Policy{}, kNanoseconds);
  EXPECT_EQ(found.loaded.samples % 3, 0U);
  EXPECT_DOUBLE_EQ(found.loaded.max_ns, 2'000);
  EXPECT_DOUBLE_EQ(found.loaded.p50_ns, 1'500);
  const auto length = static_cast<double>(found.samples.operations_per_batch);
  EXPECT_EQ(found.samples.batch_ticks.at(0), static_cast<Ticks>(4'000 * length));
  EXPECT_DOUBLE_EQ(found.samples.block_values.at(0), 1'500 * length);
}

Point ring_point(std::size_t bytes, RingOrder order) {
  Point point;
  point.pattern = Pattern::ring;
  point.formula = Formula::hpcc;
  point.message_bytes = bytes;
  point.order = order;
  return point;
}

struct Recipe {
  std::size_t bytes;
  RingOrder order;
  int rings;
  int repetitions;
  std::uint32_t loop;
};
class Recipes : public testing::TestWithParam<Recipe> {};

TEST_P(Recipes, AreThoseOfBenchLatBw) {
  const Recipe& r = GetParam();
  const HpccRecipe recipe = hpcc_recipe(ring_point(r.bytes, r.order));
  EXPECT_EQ(recipe.rings, r.rings);
  EXPECT_EQ(recipe.repetitions, r.repetitions);
  EXPECT_EQ(recipe.loop, r.loop);
}

TEST_P(Recipes, GiveOneTurnForEachRingAndRepetition) {
  const Recipe& r = GetParam();
  const Point point = ring_point(r.bytes, r.order);
  const Policy policy;
  ScriptedClock clock(steady(6'000));
  Sampler sampler(clock, point, policy);
  std::vector<int> turned;
  const double per_message =
      sample_hpcc_rings(sampler, point, kNanoseconds, [&](int ring) { turned.push_back(ring); });
  EXPECT_NEAR(per_message, 3'000, 1e-6) << "two messages of each member in a turn";
  const Samples& samples = sampler.samples();
  const auto turns = static_cast<std::size_t>(r.rings * r.repetitions);
  EXPECT_EQ(samples.batch_ticks.size(), turns);
  for (const Ticks turn : samples.batch_ticks) EXPECT_EQ(turn, 6'000U);
  EXPECT_EQ(turned.size(), r.order == RingOrder::random ? turns : 0U);
  for (std::size_t i = 0; i < turned.size(); ++i) {
    EXPECT_EQ(turned[i], static_cast<int>(i) % r.rings) << "the same rings in each repetition";
  }
  EXPECT_EQ(samples.stop, Stop::iterations);
}

INSTANTIATE_TEST_SUITE_P(Sizes, Recipes,
                         testing::Values(Recipe{8, RingOrder::natural, 1, 8, 5},
                                         Recipe{8, RingOrder::random, 30, 8, 5},
                                         Recipe{65'535, RingOrder::natural, 1, 8, 5},
                                         Recipe{65'536, RingOrder::natural, 1, 3, 2},
                                         Recipe{2'000'000, RingOrder::random, 10, 3, 2}));

TEST(HpccRings, LoopsGrowUntilTheClockCanSeeThem) {
  const Point point = ring_point(8, RingOrder::natural);
  const Policy policy;
  ScriptedClock clock(steady(100));  // five turns take half a microsecond, ten are requested
  Sampler sampler(clock, point, policy);
  sample_hpcc_rings(sampler, point, kNanoseconds, [](int) {});
  std::vector<std::uint32_t> lengths;
  for (const auto& call : clock.calls()) {
    if (call.counted) lengths.push_back(call.segment.granules);
  }
  EXPECT_EQ(lengths.front(), 5U);
  EXPECT_GE(lengths.back() * 100, 10'000U);
  EXPECT_TRUE(std::is_sorted(lengths.begin(), lengths.end())) << "and they stay so";
}

TEST(HpccRings, TheLeastOfTheRepetitionsCounts) {
  const Point point = ring_point(2'000'000, RingOrder::natural);
  const Policy policy;
  int repetition = 0;
  std::uint64_t seen = 0;
  ScriptedClock clock([&](double, std::uint64_t number) {
    if (number >= seen + 6) {  // two untimed turns and two loops of two
      seen = number;
      ++repetition;
    }
    return repetition == 1 ? 20'000.0 : 50'000.0;
  });
  Sampler sampler(clock, point, policy);
  EXPECT_NEAR(sample_hpcc_rings(sampler, point, kNanoseconds, [](int) {}), 10'000, 1e-6);
}

TEST(HpccRings, OverTheRingsTheMeanIsGeometric) {
  const Point point = ring_point(2'000'000, RingOrder::random);
  const Policy policy;
  int ring = 0;
  ScriptedClock clock([&](double, std::uint64_t) { return ring % 2 == 0 ? 20'000.0 : 80'000.0; });
  Sampler sampler(clock, point, policy);
  const double found =
      sample_hpcc_rings(sampler, point, kNanoseconds, [&](int number) { ring = number; });
  EXPECT_NEAR(found, std::sqrt(10'000.0 * 40'000.0), 1e-6);
}

}  // namespace
}  // namespace wireproof
