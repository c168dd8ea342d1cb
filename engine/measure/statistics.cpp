#include "measure/statistics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

namespace wireproof {
namespace {

constexpr double kCorrelated = 0.3;
constexpr double kTail = 0.025;
constexpr double kNormalQuantile = 1.959963984540054;  // 97.5 %
constexpr std::size_t kExactUpTo = 200;

std::size_t share(std::size_t n, double part) {
  return static_cast<std::size_t>(std::ceil(part * static_cast<double>(n)));
}

/// Distance between the 10th and the 90th percentile of a sorted range.
double inner_spread(std::span<const double> sorted) {
  const std::size_t cut = sorted.size() / 10;
  return sorted[sorted.size() - 1 - cut] - sorted[cut];
}

/// Fewer than 6 values have no 95 % interval; their extremes are still reported, and marked as
/// proving nothing.
void set_interval(Estimate& e, std::span<const double> sorted) {
  const std::size_t n = sorted.size();
  const auto effective = static_cast<std::size_t>(e.effective_blocks);
  const std::size_t rank = interval_rank(effective);
  e.interval_exists = rank > 0;
  std::size_t place = 0;  // from either end
  if (rank > 0) {
    // The rank in the effective sample, converted to the same quantile of the real sample, rounded
    // outwards.
    const double quantile = static_cast<double>(rank) / static_cast<double>(effective + 1);
    const double at = std::floor(quantile * static_cast<double>(n + 1));
    place = std::min(static_cast<std::size_t>(std::max(at, 1.0)) - 1, (n - 1) / 2);
  }
  e.low_ns = sorted[place];
  e.high_ns = sorted[n - 1 - place];
}

}  // namespace

std::string_view name_of(Label label) {
  constexpr std::array<std::string_view, 3> kNames = {"stable", "multimodal", "unstable"};
  return kNames[static_cast<std::size_t>(label)];
}

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

double lag1_autocorrelation(std::span<const double> values) {
  const std::size_t n = values.size();
  if (n < 3) return 0;
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(n);
  double variance = 0;
  double covariance = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double deviation = values[i] - mean;
    variance += deviation * deviation;
    if (i > 0) covariance += deviation * (values[i - 1] - mean);
  }
  // Sums of squares of rounding errors are not variation.
  if (variance <= 1e-24 * mean * mean * static_cast<double>(n)) return 0;
  return covariance / variance;
}

double effective_count(std::size_t n, double autocorrelation) {
  const double count = static_cast<double>(n);
  if (autocorrelation <= kCorrelated) return count;
  const double rho = std::min(autocorrelation, 0.999);
  return std::max(1.0, count * (1 - rho) / (1 + rho));
}

std::size_t interval_rank(std::size_t n) {
  if (n < 6) return 0;
  const double count = static_cast<double>(n);
  if (n > kExactUpTo) {
    return static_cast<std::size_t>((count - kNormalQuantile * std::sqrt(count)) / 2);
  }
  double term = std::exp2(-count);  // P(X = 0)
  double below = term;              // P(X < k + 1)
  std::size_t k = 0;
  while (below <= kTail) {
    ++k;
    term *= (count - static_cast<double>(k) + 1) / static_cast<double>(k);
    below += term;
  }
  return k;
}

bool has_two_modes(std::span<const double> sorted) {
  const std::size_t n = sorted.size();
  const std::size_t least = std::max<std::size_t>(2, share(n, 0.15));
  if (n < 2 * least) return false;
  std::size_t widest = least;
  for (std::size_t i = least; i <= n - least; ++i) {
    if (sorted[i] - sorted[i - 1] > sorted[widest] - sorted[widest - 1]) widest = i;
  }
  const double gap = sorted[widest] - sorted[widest - 1];
  const double inside =
      std::max(inner_spread(sorted.first(widest)), inner_spread(sorted.subspan(widest)));
  return gap > 0 && gap >= 0.1 * sorted[n / 2] && gap >= 2 * inside;
}

Estimate estimate_median(std::span<const double> block_medians_ns, double target) {
  std::vector<double> sorted(block_medians_ns.begin(), block_medians_ns.end());
  std::sort(sorted.begin(), sorted.end());
  Estimate e;
  e.blocks = sorted.size();
  e.median_ns = median_of(sorted);
  e.autocorrelation = lag1_autocorrelation(block_medians_ns);
  e.effective_blocks = effective_count(sorted.size(), e.autocorrelation);
  set_interval(e, sorted);
  e.half_width = e.median_ns > 0 ? (e.high_ns - e.low_ns) / 2 / e.median_ns
                                 : std::numeric_limits<double>::infinity();
  if (has_two_modes(sorted)) {
    e.label = Label::multimodal;
  } else if (e.interval_exists && e.half_width <= target) {
    e.label = Label::stable;
  }
  return e;
}

}  // namespace wireproof
