// Warm-up, batches, blocks and the stop rule together, on operations with scripted times.
#include "measure/sampler.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

#include "scripted_clock.hpp"

namespace wireproof {
namespace {

using test::ScriptedClock;
using test::steady;

constexpr double kMs = 1e6;

Point latency_point(int budget_ms = 1000) {
  Point point;
  point.pattern = Pattern::pingpong;
  point.form = Form::latency;
  point.message_bytes = 8;
  point.budget_ms = budget_ms;
  return point;
}

Point stream_point(int budget_ms = 1000) {
  Point point = latency_point(budget_ms);
  point.pattern = Pattern::stream;
  point.form = Form::stream;
  return point;
}

struct Sampling {
  Samples samples;
  double elapsed_ns = 0;
};

Sampling sample(ScriptedClock& clock, const Point& point, const Policy& policy = {}) {
  Sampler sampler(clock, point, policy);
  sampler.sample();
  return {sampler.samples(), sampler.elapsed_ns()};
}

std::uint64_t sum_of(const std::vector<std::uint32_t>& values) {
  return std::accumulate(values.begin(), values.end(), std::uint64_t{0});
}

/// Properties that hold for every measurement, whatever its times.
void expect_consistent(const ScriptedClock& clock, const Samples& samples) {
  EXPECT_EQ(sum_of(samples.block_batches), samples.batch_ticks.size());
  EXPECT_EQ(samples.block_values.size(), samples.block_batches.size());
  EXPECT_EQ(samples.operations, clock.granules() * static_cast<std::uint64_t>(clock.granule()));
  EXPECT_EQ(clock.begun(), clock.ended());
  std::uint64_t counted = 0;
  std::uint64_t all = 0;
  for (const auto& call : clock.calls()) {
    all += call.segment.total();
    if (call.counted) counted += call.segment.timed();
  }
  EXPECT_EQ(all, clock.granules());
  if (clock.forgotten() == 0) {
    EXPECT_EQ(samples.counted_operations, counted * static_cast<std::uint64_t>(clock.granule()));
  }
  EXPECT_GE(samples.operations, samples.counted_operations + samples.warm_up.operations);
}

struct SteadyCase {
  double granule_ns;
  int granule;
  bool pipelined;
};

class SteadyOperations : public testing::TestWithParam<SteadyCase> {};

TEST_P(SteadyOperations, StopAtPrecisionWithTheTrueTime) {
  const SteadyCase& c = GetParam();
  ScriptedClock clock(steady(c.granule_ns), c.granule, c.pipelined);
  const Point point = c.pipelined ? stream_point() : latency_point();
  const Sampling found = sample(clock, point);
  const Samples& samples = found.samples;
  expect_consistent(clock, samples);
  EXPECT_EQ(samples.stop, Stop::precision);
  EXPECT_TRUE(samples.warm_up.stationary);
  EXPECT_EQ(samples.operations_per_batch % static_cast<std::uint64_t>(c.granule), 0U);
  const double granules = static_cast<double>(samples.operations_per_batch) / c.granule;
  for (const double value : samples.block_values) {
    EXPECT_NEAR(value / granules, c.granule_ns, 1 + 0.001 * c.granule_ns);
  }
  EXPECT_LT(found.elapsed_ns, 1000 * kMs);
}

TEST_P(SteadyOperations, BatchesAreLongEnoughForTheClockAndSoManyThatBlocksFill) {
  const SteadyCase& c = GetParam();
  ScriptedClock clock(steady(c.granule_ns), c.granule, c.pipelined);
  const Policy policy;
  const Samples samples =
      sample(clock, c.pipelined ? stream_point() : latency_point(), policy).samples;
  const double shortest = shortest_batch_ns(test::kNanoseconds, policy);
  for (const Ticks ticks : samples.batch_ticks) {
    EXPECT_GE(static_cast<double>(ticks) + 1, shortest);
  }
  EXPECT_GE(samples.block_values.size(), 6U);
  EXPECT_LE(samples.batch_ticks.size(), static_cast<std::size_t>(policy.max_batches));
}

INSTANTIATE_TEST_SUITE_P(Times, SteadyOperations,
                         testing::Values(SteadyCase{200, 1, false}, SteadyCase{1'000, 1, false},
                                         SteadyCase{50'000, 1, false},
                                         SteadyCase{400'000, 1, false},
                                         SteadyCase{3 * kMs, 1, false}, SteadyCase{900, 32, true},
                                         SteadyCase{20'000, 8, true}, SteadyCase{700'000, 32, true},
                                         SteadyCase{4 * kMs, 2, true}));

TEST(Sampler, TenBlocksOfShortOperationsSixOfSlowOnes) {
  ScriptedClock brief(steady(1'000));
  EXPECT_EQ(sample(brief, latency_point()).samples.block_values.size(), 10U);
  ScriptedClock slow(steady(20 * kMs));
  const Samples samples = sample(slow, latency_point()).samples;
  EXPECT_GE(samples.block_values.size(), 6U);
  EXPECT_EQ(samples.block_values.size(), samples.batch_ticks.size());
}

TEST(Sampler, MinBlocksOfThePolicyIsKept) {
  Policy policy;
  policy.min_blocks = 25;
  ScriptedClock clock(steady(1'000));
  const Samples samples = sample(clock, latency_point(), policy).samples;
  EXPECT_EQ(samples.block_values.size(), 25U);
  EXPECT_EQ(samples.stop, Stop::precision);
}

TEST(Sampler, WarmUpIsAtLeastWhatThePolicySays) {
  ScriptedClock clock(steady(1'000));
  const Samples samples = sample(clock, latency_point()).samples;
  EXPECT_TRUE(samples.warm_up.operations >= 1000 || samples.warm_up.elapsed_ns >= 2 * kMs);

  Policy patient;
  patient.warmup_min_operations = 100'000;
  patient.warmup_min_us = 8'000;
  ScriptedClock again(steady(1'000));
  const Samples more = sample(again, latency_point(), patient).samples;
  EXPECT_GE(more.warm_up.elapsed_ns, 8 * kMs);
  EXPECT_LT(more.warm_up.elapsed_ns, 12 * kMs);
}

TEST(Sampler, SlowFirstOperationsStayInTheWarmUp) {
  ScriptedClock clock(
      [](double, std::uint64_t number) { return number < 300 ? 5'000.0 : 1'000.0; });
  const Samples samples = sample(clock, latency_point()).samples;
  expect_consistent(clock, samples);
  EXPECT_GE(samples.warm_up.operations, 300U);
  EXPECT_TRUE(samples.warm_up.stationary);
  for (const double value : samples.block_values) {
    EXPECT_DOUBLE_EQ(value, 1'000.0 * static_cast<double>(samples.operations_per_batch));
  }
}

TEST(Sampler, WhatNeverSettlesIsSaidAndBounded) {
  // Five per cent slower in each half millisecond, so no two windows agree.
  ScriptedClock clock([](double now, std::uint64_t) { return 1'000 * std::pow(1.05, now / 5e5); });
  const Samples samples = sample(clock, latency_point(100)).samples;
  EXPECT_FALSE(samples.warm_up.stationary);
  EXPECT_GE(samples.warm_up.elapsed_ns, 20 * kMs);  // ten times warmup_min_us
  EXPECT_LT(samples.warm_up.elapsed_ns, 30 * kMs);
}

TEST(Sampler, WarmUpTakesThreeTenthsOfTheBudgetAtMost) {
  ScriptedClock clock([](double now, std::uint64_t) { return 1'000 * std::pow(1.05, now / 5e5); });
  const Samples samples = sample(clock, latency_point(20)).samples;
  EXPECT_GE(samples.warm_up.elapsed_ns, 6 * kMs);
  EXPECT_LT(samples.warm_up.elapsed_ns, 8 * kMs);
}

TEST(Sampler, RestlessTimesUseTheBudget) {
  std::mt19937 random(7);
  // Each millisecond has a different pace, so blocks differ by tens of per cent.
  std::vector<double> pace(4000);
  for (double& one : pace) one = 500 + static_cast<double>(random() % 4000);
  ScriptedClock clock([&](double now, std::uint64_t) {
    return pace[static_cast<std::size_t>(now / kMs) % pace.size()];
  });
  Policy policy;
  policy.max_batches = 1'000'000;
  const Sampling found = sample(clock, latency_point(60), policy);
  expect_consistent(clock, found.samples);
  EXPECT_EQ(found.samples.stop, Stop::budget);
  EXPECT_GE(found.elapsed_ns, 60 * kMs);
  EXPECT_LT(found.elapsed_ns, 60 * kMs + 2 * 1e3 * policy.block_us);
}

TEST(Sampler, MaxBatchesEndARestlessPointBeforeItsBudget) {
  std::mt19937 random(11);
  std::vector<double> pace(4000);
  for (double& one : pace) one = 500 + static_cast<double>(random() % 4000);
  ScriptedClock clock([&](double now, std::uint64_t) {
    return pace[static_cast<std::size_t>(now / kMs) % pace.size()];
  });
  Policy policy;
  policy.max_batches = 300;
  const Sampling found = sample(clock, latency_point(100'000), policy);
  EXPECT_EQ(found.samples.stop, Stop::budget);
  EXPECT_GE(found.samples.batch_ticks.size(), 300U);
  EXPECT_LT(found.samples.batch_ticks.size(), 300U + found.samples.block_batches.front() + 1);
}

TEST(Sampler, ALooserTargetEndsSooner) {
  const auto blocks_with = [](double target) {
    std::mt19937 random(3);
    std::normal_distribution<double> noise(0, 0.15);
    ScriptedClock clock([random, noise](double now, std::uint64_t) mutable {
      static_cast<void>(now);
      return 1'000 * std::max(0.1, 1 + noise(random));
    });
    Policy policy;
    policy.latency_half_width = target;
    policy.block_us = 50;  // few operations in a block, so that blocks scatter
    return sample(clock, latency_point(), policy).samples.block_values.size();
  };
  EXPECT_GT(blocks_with(0.002), blocks_with(0.05));
  EXPECT_EQ(blocks_with(0.5), 10U);
}

TEST(Sampler, ASlowOperationGetsItsSixBlocksWithinTwiceTheBudget) {
  ScriptedClock clock(steady(100 * kMs));
  const Sampling found = sample(clock, latency_point(500));
  EXPECT_EQ(found.samples.block_values.size(), 6U);
  EXPECT_EQ(found.samples.operations_per_batch, 1U);
  EXPECT_LE(found.elapsed_ns, 1000 * kMs + 1);
  const auto& last = clock.calls().back().segment;
  EXPECT_EQ(last.lead_in, 0U) << "nothing of a long operation is lost";
  EXPECT_EQ(last.trail, 0U);
}

TEST(Sampler, SlowOperationsAreLedInUntilTheirBeginningIsForgotten) {
  for (const auto& [settle, expected] : {std::pair{2, 2U}, {100, 6U}}) {
    ScriptedClock clock(steady(100 * kMs));
    clock.settle_after(settle);
    sample(clock, latency_point(500));
    const auto& last = clock.calls().back().segment;
    EXPECT_EQ(last.lead_in, expected) << "and no longer than what counts";
    EXPECT_EQ(last.batches, 6U);
  }
}

TEST(Sampler, AnOperationLongerThanTheBudgetStillGivesANumber) {
  ScriptedClock clock(steady(900 * kMs));
  const Sampling found = sample(clock, latency_point(100));
  EXPECT_GE(found.samples.block_values.size(), 1U);
  EXPECT_LT(found.samples.block_values.size(), 6U);
  EXPECT_EQ(found.samples.stop, Stop::budget);
}

TEST(Sampler, AFixedCountIsReachedWhateverThePrecision) {
  for (const std::int64_t wanted : {1'000, 12'345, 200'000}) {
    ScriptedClock clock(steady(1'000));
    Point point = latency_point(10);
    point.iterations = wanted;
    const Samples samples = sample(clock, point).samples;
    EXPECT_EQ(samples.stop, Stop::iterations);
    EXPECT_GE(samples.counted_operations, static_cast<std::uint64_t>(wanted));
  }
}

TEST(Sampler, AFixedCountOfSlowOperationsIsMetExactly) {
  ScriptedClock clock(steady(10 * kMs));
  Point point = latency_point(10);
  point.iterations = 9;
  const Samples samples = sample(clock, point).samples;
  EXPECT_EQ(samples.counted_operations, 9U);
  EXPECT_EQ(samples.stop, Stop::iterations);
}

TEST(Sampler, BatchesCutForAHiccupAreCutAgain) {
  // The whole warm-up was a hundred times too slow.
  ScriptedClock clock(
      [](double now, std::uint64_t) { return now < 3 * kMs ? 100'000.0 : 1'000.0; });
  const Samples samples = sample(clock, latency_point()).samples;
  EXPECT_GE(clock.forgotten(), 1);
  EXPECT_FALSE(samples.warm_up.stationary) << "what was forgotten joins the warm-up";
  const double shortest = shortest_batch_ns(test::kNanoseconds, Policy{});
  for (const Ticks ticks : samples.batch_ticks) {
    EXPECT_GE(static_cast<double>(ticks) + 1, shortest / 4);
  }
  EXPECT_EQ(sum_of(samples.block_batches), samples.batch_ticks.size());
}

TEST(Sampler, ASuddenSlowDownShortensTheSegments) {
  ScriptedClock clock([](double now, std::uint64_t) { return now < 5 * kMs ? 1'000.0 : 60'000.0; });
  const Policy policy;
  const Sampling found = sample(clock, latency_point(40), policy);
  EXPECT_EQ(found.samples.stop, Stop::budget);
  // A block planned for 1.5 ms takes sixty times that; it ends with the segment that exceeds the
  // limit.
  EXPECT_LT(found.elapsed_ns, 70 * kMs);
}

TEST(Sampler, TheBlockOfAPipeIsTheMeanOfAllOthersTheMedian) {
  // Every fourth batch is stretched by a disturbance that the next batches make up for.
  const auto cost = [](double, std::uint64_t number) {
    return (number / 48) % 4 == 0 ? 2'500.0 : 500.0;
  };
  ScriptedClock pipe(cost, 1, true);
  ScriptedClock plain(cost, 1, false);
  const Samples mean = sample(pipe, stream_point(50)).samples;
  const Samples median = sample(plain, latency_point(50)).samples;
  const auto per_operation = [](const Samples& samples) {
    return median_of(samples.block_values) / static_cast<double>(samples.operations_per_batch);
  };
  EXPECT_NEAR(per_operation(mean), 1'000, 150);
  EXPECT_LT(per_operation(median), 950);
}

TEST(Sampler, SegmentsOfAPipeEndAsTheyBegin) {
  ScriptedClock clock(steady(900), 32, true);
  sample(clock, stream_point());
  for (const auto& call : clock.calls()) {
    if (!call.counted) continue;
    EXPECT_GT(call.segment.lead_in, 0U);
    EXPECT_EQ(call.segment.trail, 1U);
    EXPECT_EQ(call.segment.granules % 2, 0U) << "whole windows";
  }
}

TEST(Sampler, ACoarseClockGetsLongerBatches) {
  ScriptedClock fine(steady(1'000));
  ScriptedClock coarse(steady(1'000));
  coarse.facts().quantum_ns = 1'000;
  const std::uint64_t usual = sample(fine, latency_point()).samples.operations_per_batch;
  const std::uint64_t longer = sample(coarse, latency_point()).samples.operations_per_batch;
  EXPECT_GE(longer, 200U);
  EXPECT_GT(longer, usual);
}

TEST(Sampler, TicksAreConvertedByTheClocksRate) {
  ScriptedClock clock(steady(1'000));
  clock.facts().ns_per_tick = 0.5;  // a ns of the script is a tick
  const Sampling found = sample(clock, latency_point());
  EXPECT_NEAR(found.elapsed_ns, clock.now_ns() / 2, 1);
  EXPECT_EQ(found.samples.operations_per_batch, 96U) << "48 us of half a microsecond each";
}

struct Suite {
  Pattern pattern;
  Formula formula;
  std::size_t bytes;
  std::uint64_t warm_up;
  std::uint64_t timed;
};

class SuiteCounts : public testing::TestWithParam<Suite> {};

TEST_P(SuiteCounts, AreRunOnceInTwentyBlocks) {
  const Suite& suite = GetParam();
  Point point = latency_point();
  point.pattern = suite.pattern;
  point.form = suite.pattern == Pattern::pingpong ? Form::latency : Form::stream;
  point.formula = suite.formula;
  point.message_bytes = suite.bytes;
  ScriptedClock clock(steady(1'000), suite.pattern == Pattern::pingpong ? 1 : 64);
  const Policy policy;
  Sampler sampler(clock, point, policy);
  sampler.sample_by_formula();
  const Samples& samples = sampler.samples();
  const auto granule = static_cast<std::uint64_t>(clock.granule());
  EXPECT_EQ(samples.stop, Stop::iterations);
  EXPECT_EQ(samples.counted_operations, suite.timed * granule);
  EXPECT_EQ(sum_of(samples.block_batches), samples.batch_ticks.size());
  EXPECT_EQ(samples.batch_ticks.size() * samples.operations_per_batch, suite.timed * granule);
  EXPECT_LE(samples.block_batches.size(), 21U);
  // the probe comes first
  EXPECT_GE(samples.warm_up.operations, suite.warm_up * granule);
  EXPECT_EQ(clock.calls().back().segment.lead_in, suite.warm_up) << "no command comes between";
}

INSTANTIATE_TEST_SUITE_P(
    Suites, SuiteCounts,
    testing::Values(Suite{Pattern::pingpong, Formula::osu, 8, 100, 10'000},
                    Suite{Pattern::pingpong, Formula::osu, 8192, 100, 10'000},
                    Suite{Pattern::pingpong, Formula::osu, 8193, 10, 1'000},
                    Suite{Pattern::stream, Formula::osu, 8, 10, 100},
                    Suite{Pattern::stream, Formula::osu, 1 << 20, 2, 20},
                    Suite{Pattern::pingpong, Formula::imb_mpi1, 8, 1'100, 1'000},
                    Suite{Pattern::pingpong, Formula::imb_mpi1, 1 << 20, 50, 40},
                    Suite{Pattern::pingpong, Formula::imb_mpi1, 64 << 20, 2, 1},
                    Suite{Pattern::pingpong, Formula::imb_p2p, 8, 10'000, 100'000},
                    Suite{Pattern::pingpong, Formula::imb_p2p, 1 << 20, 80, 800}));

TEST(Sampler, ASampleOfImbMpi1LastsTenSecondsAtMost) {
  Point point = latency_point();
  point.formula = Formula::imb_mpi1;
  ScriptedClock clock(steady(100 * kMs));
  const Policy policy;
  Sampler sampler(clock, point, policy);
  sampler.sample_by_formula();
  EXPECT_EQ(sampler.samples().counted_operations, 100U);
}

}  // namespace
}  // namespace wireproof
