// Which loops the named suites have for a point's pattern.
#pragma once

#include "base/statement.hpp"
#include "plan/plan.hpp"

namespace wireproof {

/// Throws naming the line, what else the formula has, and what else the pattern is measured by.
void check_formula(const Statement& line, const Point& point);

}  // namespace wireproof
