// What a point of some pair patterns may ask: keys of their own, and sizes.
#pragma once

#include "base/statement.hpp"
#include "plan/plan.hpp"

namespace wireproof {

/// Takes `threads` and `partitions`, known to their patterns only.
void read_pair_keys(Statement& line, Point& point);

/// Sizes that the pattern can have. Throws naming the line.
void check_pair_size(const Statement& line, const Point& point);

}  // namespace wireproof
