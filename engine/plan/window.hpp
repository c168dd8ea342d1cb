// The number of messages of a point that are really in flight at a time.
#pragma once

#include "plan/plan.hpp"

namespace wireproof {

/// The window that is used: bytes in flight are bounded, with at least two messages for a stream.
int bounded_window(const Point& point, const Policy& policy);

}  // namespace wireproof
