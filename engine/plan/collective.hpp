// The part of a point that only collectives have.
#pragma once

#include "plan/plan.hpp"
#include "base/statement.hpp"

namespace wireproof {

/// blocking=, and sizes that the collective can have.
void read_collective(Statement& line, Point& point);

}  // namespace wireproof
