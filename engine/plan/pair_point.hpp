// What a point of the newer pair patterns may ask: their own keys, sizes and suites' formulas.
#pragma once

#include "plan/plan.hpp"
#include "plan/statement.hpp"

namespace wireproof {

/// Takes `threads` and `partitions`, known to their patterns only.
void read_pair_keys(Statement& line, Point& point);

/// Sizes that the pattern can have, and the loops that the named suites have for it. Throws naming
/// the line.
void check_pair_point(const Statement& line, const Point& point);

}  // namespace wireproof
