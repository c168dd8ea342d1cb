// Harness floor: the same timed loop over a link that does nothing.
#pragma once

#include "base/clock.hpp"
#include "plan/plan.hpp"

namespace wireproof {

/// Median time per operation in ns on the null link, in this process. Takes a millisecond or two.
double harness_floor_ns(Pattern pattern, Form form, const HostClock& clock);

}  // namespace wireproof
