#include "measure/group_formula.hpp"

#include <algorithm>
#include <numeric>

namespace wireproof {

double group_formula_value_ns(const GroupOutcome& outcome, const Point& point) {
  const std::vector<double>& each = outcome.member_ns;
  if (point.formula != Formula::osu) return *std::max_element(each.begin(), each.end());
  const std::size_t senders = is_collective(point.pattern) ? each.size() : each.size() / 2;
  const auto last = each.begin() + static_cast<std::ptrdiff_t>(senders);
  return std::accumulate(each.begin(), last, 0.0) / static_cast<double>(senders);
}

}  // namespace wireproof
