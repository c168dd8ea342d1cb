// Checks which loops the named suites have for a point's pattern.
#pragma once

#include "base/statement.hpp"
#include "plan/plan.hpp"

namespace wireproof {

/// Throws Failure with the line, the other patterns of the formula, and the other formulas of the
/// pattern.
void check_formula(const Statement& line, const Point& point);

}  // namespace wireproof
