// Values of the suites' group benchmarks, from the members' times.
#pragma once

#include "measure/group_leader.hpp"

namespace wireproof {

/// Time per operation in ns: osu_mbw_mr the mean over the senders, IMB-MPI1 Uniband the slowest
/// member.
double group_formula_value_ns(const GroupOutcome& outcome, const Point& point);

}  // namespace wireproof
