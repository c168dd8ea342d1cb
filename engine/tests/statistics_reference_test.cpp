// Compares the order statistics with their definitions, computed the slow way.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "measure/statistics.hpp"

namespace wireproof {
namespace {

double choose(std::size_t n, std::size_t k) {
  return std::exp(std::lgamma(static_cast<double>(n) + 1) -
                  std::lgamma(static_cast<double>(k) + 1) -
                  std::lgamma(static_cast<double>(n - k) + 1));
}

/// P(Binomial(n, 1/2) < k)
double below(std::size_t n, std::size_t k) {
  double sum = 0;
  for (std::size_t i = 0; i < k; ++i) sum += choose(n, i) * std::exp2(-static_cast<double>(n));
  return sum;
}

TEST(IntervalRank, IsTheLargestThatTheBinomialAllows) {
  for (std::size_t n = 6; n <= 200; ++n) {
    const std::size_t k = interval_rank(n);
    EXPECT_GE(k, 1U) << n;
    EXPECT_LE(below(n, k), 0.025 + 1e-9) << n;
    EXPECT_GT(below(n, k + 1), 0.025 - 1e-9) << n;
  }
}

TEST(IntervalRank, FewerThanSixHaveNone) {
  for (std::size_t n = 0; n < 6; ++n) {
    EXPECT_EQ(interval_rank(n), 0U) << n;
    if (n > 0) {
      EXPECT_GT(below(n, 1), 0.025) << "not even the extremes would do";
    }
  }
}

TEST(IntervalRank, GrowsWithTheSampleAndStaysBelowItsHalf) {
  std::size_t before = 0;
  for (std::size_t n = 6; n < 5000; ++n) {
    const std::size_t k = interval_rank(n);
    EXPECT_GE(k, before) << n;
    EXPECT_LE(k, n / 2) << n;
    before = k;
  }
}

class Samples : public testing::TestWithParam<unsigned> {
 protected:
  std::vector<double> values(std::size_t count) {
    std::lognormal_distribution<double> distribution(7, 0.3);
    std::vector<double> found(count);
    for (double& value : found) value = distribution(random_);
    return found;
  }
  std::mt19937 random_{GetParam()};
};

TEST_P(Samples, TheMedianIsTheMiddleOfTheSorted) {
  for (std::size_t count = 1; count < 60; ++count) {
    std::vector<double> sorted = values(count);
    const double found = median_of(sorted);
    std::sort(sorted.begin(), sorted.end());
    const double middle =
        count % 2 == 1 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
    EXPECT_DOUBLE_EQ(found, middle);
  }
}

TEST_P(Samples, TheIntervalHoldsTheMedianAndIsMadeOfValues) {
  for (const std::size_t count : {6U, 9U, 10U, 25U, 64U, 300U}) {
    const std::vector<double> sample = values(count);
    const Estimate e = estimate_median(sample, 0.02);
    EXPECT_LE(e.low_ns, e.median_ns);
    EXPECT_GE(e.high_ns, e.median_ns);
    EXPECT_NE(std::find(sample.begin(), sample.end(), e.low_ns), sample.end());
    EXPECT_NE(std::find(sample.begin(), sample.end(), e.high_ns), sample.end());
    EXPECT_EQ(e.blocks, count);
    EXPECT_LE(e.effective_blocks, static_cast<double>(count));
    EXPECT_DOUBLE_EQ(e.half_width, (e.high_ns - e.low_ns) / 2 / e.median_ns);
  }
}

TEST_P(Samples, IndependentValuesHaveTheRanksOfTheTable) {
  std::vector<double> sample = values(40);
  Estimate e = estimate_median(sample, 0.02);
  if (e.autocorrelation > 0.3) return;
  std::sort(sample.begin(), sample.end());
  const std::size_t k = interval_rank(40);
  EXPECT_EQ(e.low_ns, sample[k - 1]);
  EXPECT_EQ(e.high_ns, sample[40 - k]);
}

TEST_P(Samples, ScalingTheTimesScalesTheEstimate) {
  const std::vector<double> sample = values(30);
  std::vector<double> thousandfold = sample;
  for (double& value : thousandfold) value *= 1000;
  const Estimate one = estimate_median(sample, 0.02);
  const Estimate other = estimate_median(thousandfold, 0.02);
  EXPECT_NEAR(other.median_ns / one.median_ns, 1000, 1e-6);
  EXPECT_NEAR(other.half_width, one.half_width, 1e-9);
  EXPECT_NEAR(other.autocorrelation, one.autocorrelation, 1e-9);
  EXPECT_EQ(other.label, one.label);
}

TEST_P(Samples, TheOrderChangesNothingButTheAutocorrelation) {
  std::vector<double> sample = values(50);
  const Estimate one = estimate_median(sample, 0.02);
  std::shuffle(sample.begin(), sample.end(), random_);
  const Estimate other = estimate_median(sample, 0.02);
  EXPECT_EQ(other.median_ns, one.median_ns);
  if (one.autocorrelation <= 0.3 && other.autocorrelation <= 0.3) {
    EXPECT_EQ(other.low_ns, one.low_ns);
    EXPECT_EQ(other.high_ns, one.high_ns);
  }
}

TEST_P(Samples, AutocorrelationIsTheTextbooks) {
  const std::vector<double> x = values(40);
  const double mean = std::accumulate(x.begin(), x.end(), 0.0) / 40;
  double above = 0;
  double under = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    under += (x[i] - mean) * (x[i] - mean);
    if (i + 1 < x.size()) above += (x[i] - mean) * (x[i + 1] - mean);
  }
  EXPECT_NEAR(lag1_autocorrelation(x), above / under, 1e-12);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Samples, testing::Range(1U, 9U));

TEST(EffectiveCount, FallsAsNeighboursResembleEachOther) {
  EXPECT_DOUBLE_EQ(effective_count(100, -0.5), 100);
  EXPECT_DOUBLE_EQ(effective_count(100, 0.3), 100);
  EXPECT_NEAR(effective_count(100, 0.31), 100 * 0.69 / 1.31, 1e-9);
  EXPECT_NEAR(effective_count(100, 0.5), 100.0 / 3, 1e-9);
  EXPECT_DOUBLE_EQ(effective_count(100, 1.0), 1);
  double before = 101;
  for (double rho = 0.31; rho < 1; rho += 0.01) {
    const double now = effective_count(100, rho);
    EXPECT_LT(now, before) << rho;
    before = now;
  }
}

TEST(EffectiveCount, AResemblingSampleHasAWiderInterval) {
  std::mt19937 random(5);
  std::normal_distribution<double> step(0, 1);
  std::vector<double> walk;
  double at = 0;
  for (int i = 0; i < 80; ++i) walk.push_back(1000 + (at = 0.9 * at + step(random)));
  const Estimate slow = estimate_median(walk, 0.02);
  std::shuffle(walk.begin(), walk.end(), random);
  const Estimate mixed = estimate_median(walk, 0.02);
  EXPECT_GT(slow.autocorrelation, 0.3);
  EXPECT_LT(slow.effective_blocks, 40);
  EXPECT_GT(slow.half_width, mixed.half_width);
}

struct Modes {
  std::vector<double> sorted;
  bool two;
};
std::vector<double> groups(std::size_t first, double low, std::size_t second, double high,
                           double spread) {
  std::vector<double> found;
  for (std::size_t i = 0; i < first; ++i) {
    found.push_back(low + spread * static_cast<double>(i) / static_cast<double>(first));
  }
  for (std::size_t i = 0; i < second; ++i) {
    found.push_back(high + spread * static_cast<double>(i) / static_cast<double>(second));
  }
  return found;
}
class TwoModes : public testing::TestWithParam<Modes> {};
TEST_P(TwoModes, AreTwoGroupsFarApart) {
  EXPECT_EQ(has_two_modes(GetParam().sorted), GetParam().two);
}
INSTANTIATE_TEST_SUITE_P(
    OfSamples, TwoModes,
    testing::Values(Modes{groups(10, 100, 10, 200, 5), true},
                    Modes{groups(10, 100, 10, 109, 1), false},  // less than a tenth apart
                    Modes{groups(10, 100, 10, 113, 1), true},
                    Modes{groups(10, 100, 10, 130, 25), false},  // as wide as apart
                    Modes{groups(18, 100, 2, 200, 5), false},    // a tenth of them
                    Modes{groups(17, 100, 3, 200, 5), true},     // fifteen in a hundred
                    Modes{groups(3, 100, 17, 200, 5), true}, Modes{groups(2, 100, 2, 200, 1), true},
                    Modes{groups(1, 100, 2, 200, 1), false},
                    Modes{groups(30, 100, 0, 0, 50), false}, Modes{{5, 5, 5, 5, 5, 5}, false}));

TEST(Labels, NameTheThreeOutcomes) {
  EXPECT_EQ(name_of(Label::stable), "stable");
  EXPECT_EQ(name_of(Label::multimodal), "multimodal");
  EXPECT_EQ(name_of(Label::unstable), "unstable");
}

TEST(Labels, FollowFromTheTargetUnlessThereAreTwoModes) {
  std::vector<double> sample;
  for (int i = 0; i < 20; ++i) sample.push_back(1000 + (i * 7) % 20);  // within two per cent
  EXPECT_EQ(estimate_median(sample, 0.02).label, Label::stable);
  EXPECT_EQ(estimate_median(sample, 0.001).label, Label::unstable);
  for (int i = 0; i < 20; i += 2) sample[static_cast<std::size_t>(i)] += 500;
  EXPECT_EQ(estimate_median(sample, 1.0).label, Label::multimodal);
}

TEST(Estimates, OfZerosHaveNoHalfWidth) {
  const std::vector<double> zeros(10, 0.0);
  const Estimate e = estimate_median(zeros, 0.02);
  EXPECT_EQ(e.median_ns, 0);
  EXPECT_TRUE(std::isinf(e.half_width));
  EXPECT_EQ(e.label, Label::unstable);
}

TEST(Estimates, OfOneValueAreThatValueAndProveNothing) {
  const std::vector<double> one = {7.0};
  const Estimate e = estimate_median(one, 0.5);
  EXPECT_EQ(e.median_ns, 7);
  EXPECT_EQ(e.low_ns, 7);
  EXPECT_EQ(e.high_ns, 7);
  EXPECT_FALSE(e.interval_exists);
  EXPECT_EQ(e.label, Label::unstable);
}

}  // namespace
}  // namespace wireproof
