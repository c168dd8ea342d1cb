// Fields that only some pair patterns have, and their sizes.
#pragma once

#include "base/statement.hpp"
#include "plan/plan.hpp"

namespace wireproof {

/// Takes `threads` and `partitions`, which only their patterns have.
void read_pair_keys(Statement& line, Point& point);

/// Sizes that the pattern supports. Throws naming the line.
void check_pair_size(const Statement& line, const Point& point);

}  // namespace wireproof
