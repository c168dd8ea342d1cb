// The part of a point that only collectives have.
#pragma once

#include "base/statement.hpp"
#include "plan/plan.hpp"

namespace wireproof {

/// blocking=, and sizes that the collective supports.
void read_collective(Statement& line, Point& point);

}  // namespace wireproof
