// The part of a point that only collectives have.
#pragma once

#include "plan/plan.hpp"
#include "plan/statement.hpp"

namespace wireproof {

/// blocking=, and sizes that the collective can have.
void read_collective(Statement& line, Point& point);

/// OSU's osu_barrier, osu_bcast, osu_allreduce, osu_allgather, osu_alltoall and IMB-MPI1's five of
/// the same; all of them blocking.
void check_collective_formula(const Statement& line, const Point& point);

}  // namespace wireproof
