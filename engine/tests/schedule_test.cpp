#include "measure/schedule.hpp"

#include <gtest/gtest.h>

#include "measure/formula.hpp"

namespace wireproof {
namespace {

constexpr ClockFacts kTsc{ClockSource::tsc, 0.385, 10, 7};

Point point(Pattern pattern, Form form, std::size_t bytes, int window = 64,
            Formula formula = Formula::robust) {
  Point p;
  p.pattern = pattern;
  p.form = form;
  p.message_bytes = bytes;
  p.window = window;
  p.formula = formula;
  return p;
}

TEST(Schedule, BytesInFlightAreBounded) {
  const Policy policy;  // 4 MiB
  EXPECT_EQ(bounded_window(point(Pattern::stream, Form::stream, 8), policy), 64);
  EXPECT_EQ(bounded_window(point(Pattern::stream, Form::stream, 1 << 20), policy), 4);
  EXPECT_EQ(bounded_window(point(Pattern::stream, Form::stream, 4 << 20), policy), 2);
  EXPECT_EQ(bounded_window(point(Pattern::stream, Form::stream, 0), policy), 64);
  EXPECT_EQ(bounded_window(point(Pattern::stream, Form::stream, 8, 1), policy), 2);
  EXPECT_EQ(bounded_window(point(Pattern::stream, Form::stream, 8, 7), policy), 6);
  EXPECT_EQ(bounded_window(point(Pattern::put, Form::latency, 8), policy), 1);
  EXPECT_EQ(bounded_window(point(Pattern::stream, Form::stream, 4 << 20, 64, Formula::osu), policy),
            64);
}

TEST(Schedule, BatchesAreLongEnoughForTheClock) {
  const Policy policy;
  const ClockFacts coarse{ClockSource::monotonic, 1, 100, 50};
  for (const ClockFacts& clock : {kTsc, coarse}) {
    const double shortest = shortest_batch_ns(clock, policy);
    EXPECT_GE(shortest, 2000);
    EXPECT_GE(shortest, 200 * clock.quantum_ns);
    EXPECT_GE(shortest, 1000 * clock.read_cost_ns);
    const Cutting c = cut(300, clock, policy, false);
    EXPECT_GE(c.granules * 300.0, shortest);
    EXPECT_FALSE(c.slow);
  }
}

TEST(Schedule, ManyBlocksFitIntoMaxBatches) {
  const Policy policy;
  const Cutting c = cut(300, kTsc, policy, false);
  EXPECT_GE(policy.max_batches / static_cast<int>(c.batches_per_block), 60);
  EXPECT_LE(c.batches_per_segment, c.batches_per_block);
}

TEST(Schedule, SlowOperationsAreOneBatchAndOneBlock) {
  const Cutting c = cut(35e6, kTsc, Policy{}, false);
  EXPECT_TRUE(c.slow);
  EXPECT_EQ(c.granules, 1U);
  EXPECT_EQ(c.batches_per_block, 1U);
  EXPECT_EQ(make_segment(c, 6, false).total(), 6U);  // no lead-in: it would cost another operation
  EXPECT_EQ(make_segment(c, 6, true).total(), 6U);   // and the pipe is empty at both ends
  EXPECT_EQ(cut(35e6, kTsc, Policy{}, true).granules, 2U);
}

// The library decides how much of the other half has arrived at an edge.
TEST(Schedule, BatchesOfAPipeAreWholeWindowsWithAsMuchUnderWayAtBothEnds) {
  for (const double granule_ns : {0.3, 700.0, 99e3, 101e3, 170e3, 374e3, 376e3, 35e6}) {
    const Cutting c = cut(granule_ns, kTsc, Policy{}, true);
    EXPECT_EQ(c.granules % 2, 0U) << granule_ns;
    const Segment s = make_segment(c, 3, true);
    EXPECT_EQ(s.lead_in > 0, s.trail > 0) << granule_ns;
  }
}

Estimate estimate(double half_width, bool exists = true) {
  Estimate e;
  e.half_width = half_width;
  e.interval_exists = exists;
  return e;
}

TEST(StopRule, StopsAtPrecisionButNotBeforeEnoughBlocks) {
  const StopRule rule;
  EXPECT_EQ(rule.decide({.blocks = 9}, estimate(0.001)), Stop::none);
  EXPECT_EQ(rule.decide({.blocks = 10}, estimate(0.001)), Stop::precision);
  EXPECT_EQ(rule.decide({.blocks = 10}, estimate(0.021)), Stop::none);
  EXPECT_EQ(rule.decide({.blocks = 10}, estimate(0.001, false)), Stop::none);
}

TEST(StopRule, WaitsForTheLeastOperationsButNotBeyondTheBudget) {
  StopRule rule;
  rule.least_operations = 600;
  EXPECT_EQ(rule.decide({.blocks = 10, .operations = 599}, estimate(0.001)), Stop::none);
  EXPECT_EQ(rule.decide({.blocks = 10, .operations = 600}, estimate(0.001)), Stop::precision);
  EXPECT_EQ(rule.decide({.blocks = 10, .operations = 9, .elapsed_ns = 1e9}, estimate(0.001)),
            Stop::budget);
}

TEST(StopRule, StopsAtBudgetAndAtMaxBatches) {
  const StopRule rule;
  EXPECT_EQ(rule.decide({.elapsed_ns = 1e9}, estimate(0.5)), Stop::budget);
  EXPECT_EQ(rule.decide({.batches = 2000}, estimate(0.5)), Stop::budget);
}

TEST(StopRule, AFixedCountStopsAtNothingElse) {
  StopRule rule;
  rule.iterations = 100;
  EXPECT_EQ(rule.decide({.blocks = 50, .operations = 99, .elapsed_ns = 1e12}, estimate(0)),
            Stop::none);
  EXPECT_EQ(rule.decide({.operations = 100}, estimate(1)), Stop::iterations);
}

TEST(StopRule, MinBlocksAppliesToShortOperationsOnly) {
  const Point p = point(Pattern::pingpong, Form::latency, 8);
  EXPECT_EQ(stop_rule(p, Policy{}, false).min_blocks, 10U);
  EXPECT_EQ(stop_rule(p, Policy{}, true).min_blocks, 6U);
}

std::uint64_t timed(const FormulaCount& c) { return std::uint64_t{c.batches} * c.granules; }

TEST(Formula, CountsOfTheSuites) {
  const auto osu = Formula::osu;
  FormulaCount c = formula_count(point(Pattern::pingpong, Form::latency, 8192, 64, osu), 1, 300);
  EXPECT_EQ(timed(c), 10000U);
  EXPECT_EQ(c.warm_up, 100U);
  c = formula_count(point(Pattern::pingpong, Form::latency, 8193, 64, osu), 1, 300);
  EXPECT_EQ(timed(c), 1000U);
  EXPECT_EQ(c.warm_up, 10U);
  c = formula_count(point(Pattern::stream, Form::stream, 1 << 20, 64, osu), 64, 300);
  EXPECT_EQ(timed(c), 20U);  // windows
  const auto mpi1 = Formula::imb_mpi1;
  EXPECT_EQ(timed(formula_count(point(Pattern::pingpong, Form::latency, 8, 64, mpi1), 1, 300)),
            1000U);
  EXPECT_EQ(timed(formula_count(point(Pattern::pingpong, Form::latency, 65536, 64, mpi1), 1, 300)),
            640U);
  EXPECT_EQ(
      timed(formula_count(point(Pattern::pingpong, Form::latency, 4 << 20, 64, mpi1), 1, 300)),
      10U);
  EXPECT_EQ(timed(formula_count(point(Pattern::pingpong, Form::latency, 8, 64, mpi1), 1, 1e9)),
            10U);
  const auto p2p = Formula::imb_p2p;
  EXPECT_EQ(timed(formula_count(point(Pattern::pingpong, Form::latency, 8, 64, p2p), 1, 300)),
            100000U);
  EXPECT_EQ(timed(formula_count(point(Pattern::pingpong, Form::latency, 1 << 20, 64, p2p), 1, 300)),
            800U);
}

TEST(Formula, IterationsOverrideTheCount) {
  Point p = point(Pattern::pingpong, Form::latency, 8, 64, Formula::imb_p2p);
  p.iterations = 500;
  EXPECT_EQ(timed(formula_count(p, 1, 300)), 500U);
}

TEST(Formula, TheClockIsReadSeldom) {
  Point p = point(Pattern::pingpong, Form::latency, 8, 64, Formula::imb_mpi1);
  for (const auto& [granule_ns, batches] : {std::pair{300.0, 20U}, {2000.0, 40U}, {1e6, 200U}}) {
    EXPECT_EQ(formula_count(p, 1, granule_ns).batches, batches) << granule_ns;
  }
  p.iterations = 7;
  EXPECT_EQ(formula_count(p, 1, 300).batches, 7U);
}

TEST(Formula, ImbWarmsUpByAPassAndATenthAtLeastTen) {
  Point p = point(Pattern::stream, Form::stream, 1 << 20, 4, Formula::imb_mpi1);
  for (const auto& [windows, warm_up] : {std::pair{1, 2U}, {6, 12U}, {96, 106U}, {500, 550U}}) {
    p.iterations = 4 * windows;
    EXPECT_EQ(formula_count(p, 4, 300).warm_up, warm_up) << windows;
  }
}

TEST(Formula, ValuesDifferInWhoseClockCounts) {
  PairOutcome o;
  o.batch_ticks = {1000, 1000};
  o.operations_per_batch = 5;
  o.target_elapsed_ns = 3000;
  Point p = point(Pattern::stream, Form::stream, 8, 64, Formula::osu);
  EXPECT_DOUBLE_EQ(formula_value_ns(o, p), 200);
  p.formula = Formula::imb_mpi1;
  EXPECT_DOUBLE_EQ(formula_value_ns(o, p), 300);
  p.pattern = Pattern::pingpong;
  EXPECT_DOUBLE_EQ(formula_value_ns(o, p), 150);
  p.formula = Formula::imb_p2p;
  EXPECT_DOUBLE_EQ(formula_value_ns(o, p), 125);
}

}  // namespace
}  // namespace wireproof
