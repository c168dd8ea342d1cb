// Checks what a run requires of its plan before anything is measured.
#include "measure/sweep.hpp"

namespace wireproof {
namespace {

std::string remote_patterns() {
  std::string list;
  for (const PatternRow& row : kPatterns) {
    if (row.access != Access::messages) list.append(list.empty() ? "" : ", ").append(row.name);
  }
  return list;
}

}  // namespace

/// Facts that are not in the plan: the number of ranks, and the abilities of the transport.
void Sweep::check_plan() const {
  const int size = group_.size();
  for (const Point& point : plan_.points) {
    const std::string name = "point " + std::to_string(point.id);
    if (point.highest_rank >= size) {
      throw bad_plan("plan line " + std::to_string(point.line) + ": " + name + " names rank " +
                     std::to_string(point.highest_rank) + " and only " + std::to_string(size) +
                     " rank(s) were started; start more or change " +
                     (is_group(point.pattern) ? "members=" : "pairs="));
    }
    if (is_group(point.pattern) && !transport_.has_groups()) {
      throw bad_plan("plan line " + std::to_string(point.line) +
                     ": pattern=" + std::string(name_of(point.pattern)) +
                     " needs a group, and transport kind=" + std::string(name_of(plan_.transport)) +
                     " measures pairs only; use kind=mpi, or a pattern of pairs");
    }
    if (is_collective(point.pattern) && !transport_.has(point.pattern)) {
      throw bad_plan(name + ": " + std::string(name_of(point.pattern)) +
                     " is a collective of an MPI's library, and transport " +
                     std::string(name_of(plan_.transport)) + " has none: use kind=mpi");
    }
    if (!transport_.has(point.pattern)) {
      throw bad_plan(name + ": transport " + std::string(name_of(plan_.transport)) + " has no " +
                     (is_remote(point.pattern) && !transport_.one_sided()
                          ? "remote access (" + remote_patterns() + ")"
                          : std::string(name_of(point.pattern))));
    }
  }
}

}  // namespace wireproof
