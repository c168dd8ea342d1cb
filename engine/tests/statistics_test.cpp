#include "measure/statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace wireproof {
namespace {

TEST(Statistics, Median) {
  EXPECT_DOUBLE_EQ(median_of({3}), 3);
  EXPECT_DOUBLE_EQ(median_of({4, 1, 3, 2}), 2.5);
  EXPECT_DOUBLE_EQ(median_of({5, 1, 9}), 5);
}

// Ranks from the table in Le Boudec 2010, appendix A (95 % interval of the median).
TEST(Statistics, IntervalRanksOfTheTable) {
  EXPECT_EQ(interval_rank(5), 0U);
  EXPECT_EQ(interval_rank(6), 1U);
  EXPECT_EQ(interval_rank(8), 1U);
  EXPECT_EQ(interval_rank(9), 2U);
  EXPECT_EQ(interval_rank(10), 2U);
  EXPECT_EQ(interval_rank(20), 6U);
  EXPECT_EQ(interval_rank(50), 18U);
  EXPECT_EQ(interval_rank(70), 27U);
}

TEST(Statistics, ExactAndNormalRanksMeet) {
  EXPECT_NEAR(static_cast<double>(interval_rank(200)), static_cast<double>(interval_rank(201)), 1);
}

TEST(Statistics, AutocorrelationOfKnownSeries) {
  EXPECT_DOUBLE_EQ(lag1_autocorrelation(std::vector<double>(10, 7.0)), 0);
  const std::vector<double> alternating = {1, -1, 1, -1, 1, -1, 1, -1};
  EXPECT_NEAR(lag1_autocorrelation(alternating), -7.0 / 8, 1e-12);
  std::vector<double> ramp(100);
  for (std::size_t i = 0; i < ramp.size(); ++i) ramp[i] = static_cast<double>(i);
  EXPECT_GT(lag1_autocorrelation(ramp), 0.9);
}

TEST(Statistics, CorrelatedBlocksCountLess) {
  EXPECT_DOUBLE_EQ(effective_count(30, 0.3), 30);
  EXPECT_DOUBLE_EQ(effective_count(30, -0.5), 30);
  EXPECT_DOUBLE_EQ(effective_count(30, 0.5), 10);
  EXPECT_GE(effective_count(30, 1.0), 1);
}

TEST(Statistics, EstimateOfTenValues) {
  const std::vector<double> blocks = {10, 12, 11, 14, 9, 13, 8, 15, 16, 7};
  const Estimate e = estimate_median(blocks, 0.5);
  EXPECT_DOUBLE_EQ(e.median_ns, 11.5);
  EXPECT_DOUBLE_EQ(e.low_ns, 8);    // 2nd smallest
  EXPECT_DOUBLE_EQ(e.high_ns, 15);  // 2nd largest
  EXPECT_DOUBLE_EQ(e.half_width, 3.5 / 11.5);
  EXPECT_EQ(e.label, Label::stable);
  EXPECT_EQ(estimate_median(blocks, 0.1).label, Label::unstable);
}

TEST(Statistics, TooFewBlocksProveNothing) {
  const std::vector<double> blocks = {5, 5, 5, 5, 5};
  const Estimate e = estimate_median(blocks, 0.5);
  EXPECT_FALSE(e.interval_exists);
  EXPECT_EQ(e.label, Label::unstable);
}

TEST(Statistics, FewEffectiveBlocksProveNothing) {
  std::vector<double> drift(12);
  for (std::size_t i = 0; i < drift.size(); ++i) drift[i] = 100 + static_cast<double>(i);
  EXPECT_FALSE(estimate_median(drift, 0.5).interval_exists);
}

TEST(Statistics, TwoPlateausAreSeen) {
  std::vector<double> blocks(20, 140);
  for (std::size_t i = 0; i < blocks.size(); ++i) blocks[i] += static_cast<double>(i % 5);
  EXPECT_NE(estimate_median(blocks, 0.05).label, Label::multimodal);
  for (std::size_t i = 12; i < blocks.size(); ++i) blocks[i] += 190;
  EXPECT_EQ(estimate_median(blocks, 0.05).label, Label::multimodal);
}

TEST(Statistics, OneOutlierIsNoMode) {
  std::vector<double> blocks(20, 140);
  blocks[3] = 900;
  EXPECT_FALSE(estimate_median(blocks, 0.05).label == Label::multimodal);
}

/// The interval covers the true median in at least 95 % of seeded samples of a skewed distribution.
TEST(Statistics, IntervalCovers) {
  std::mt19937_64 generator(42);
  std::exponential_distribution<double> skewed(1.0);
  int covered = 0;
  constexpr int kTrials = 2000;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> blocks(15);
    for (double& block : blocks) block = 1 + skewed(generator);
    const Estimate e = estimate_median(blocks, 1);
    covered += e.low_ns <= 1 + std::log(2.0) && 1 + std::log(2.0) <= e.high_ns;
  }
  EXPECT_GE(covered, kTrials * 95 / 100);
}

}  // namespace
}  // namespace wireproof
