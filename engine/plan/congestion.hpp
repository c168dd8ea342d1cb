// The part of a point that only congestion has.
#pragma once

#include "base/statement.hpp"
#include "plan/plan.hpp"

namespace wireproof {

/// pairs=, load= and load_bytes=. The members are the ranks of both, pair by pair: member 2 i talks
/// to member 2 i + 1.
void read_congestion(Statement& line, Point& point);

}  // namespace wireproof
