// Order statistics of block medians. No distribution is assumed and no outlier is removed.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace wireproof {

enum class Label { stable, multimodal, unstable };
std::string_view name_of(Label label);

/// Median of an unordered sample (mean of the middle two if the number is even). `values` must not
/// be empty.
double median_of(std::vector<double> values);

/// Lag-1 autocorrelation in order of time; 0 for fewer than 3 values or no variation.
double lag1_autocorrelation(std::span<const double> values);

/// n (1 - rho) / (1 + rho) if rho > 0.3, else n: similar neighbours are not independent evidence
/// (Hoefler and Belli 2015, rule on independence; the threshold is validated in
/// docs/reference/engine-interface.md).
double effective_count(std::size_t n, double autocorrelation);

/// The largest k with P(Binomial(n, 1/2) < k) <= 2.5 %: the k-th smallest and k-th largest of n
/// values bound the median with at least 95 % confidence (Le Boudec 2010, theorem 2.1). 0 if n < 6,
/// because no such interval exists.
std::size_t interval_rank(std::size_t n);

/// Median with its distribution-free 95 % interval; per operation, in ns.
struct Estimate {
  double median_ns = 0;
  double low_ns = 0;
  double high_ns = 0;
  std::size_t blocks = 0;
  double effective_blocks = 0;
  double autocorrelation = 0;
  double half_width = 0;         // (high - low) / 2 / median
  bool interval_exists = false;  // false: low and high are the extremes and prove nothing
  Label label = Label::unstable;
};

/// `block_medians_ns` are in order of time, and not empty; `target` is the half-width up to which
/// the estimate is `stable`.
Estimate estimate_median(std::span<const double> block_medians_ns, double target);

/// True if the sorted values fall into two groups, each with at least 15 % of them, whose distance
/// is at least 10 % of the median and twice the spread inside either group.
bool has_two_modes(std::span<const double> sorted);

}  // namespace wireproof
