// The groups that this process has been a member of: one communicator and one end for each, kept
// for later points.
#pragma once

#include <mpi.h>

#include <map>
#include <memory>
#include <vector>

#include "base/clock.hpp"
#include "pattern/group/end.hpp"

namespace wireproof {

class MpiGroups {
 public:
  MpiGroups(MPI_Comm data, MPI_Comm control) : data_(data), control_(control) {}

  /// Collective over the members.
  GroupEnd& end_of(const std::vector<int>& members, const HostClock& clock, bool yield);
  /// Frees every communicator; all members of all groups call it between points, with the groups in
  /// the order of their member lists.
  void forget();

 private:
  static constexpr int kGroupTag = 6;

  MPI_Comm data_;
  MPI_Comm control_;
  // Type-erased, so that the loops of groups are compiled only where the ends are made.
  std::map<std::vector<int>, std::unique_ptr<GroupEnd>> ends_;
  std::map<std::vector<int>, MPI_Comm> communicators_;
};

}  // namespace wireproof
