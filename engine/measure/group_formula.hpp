// Values of the suites' group benchmarks, computed from the members' times.
#pragma once

#include "measure/group_leader.hpp"

namespace wireproof {

/// Time per operation in ns. osu_mbw_mr: the mean over the senders; OSU's collectives: the mean
/// over all members; IMB-MPI1: the slowest member.
double group_formula_value_ns(const GroupOutcome& outcome, const Point& point);

}  // namespace wireproof
