#include "transport/mpi/groups.hpp"

#include "pattern/group/link_end.hpp"
#include "transport/mpi/group_link.hpp"

namespace wireproof {

GroupEnd& MpiGroups::end_of(const std::vector<int>& members, const HostClock& clock, bool yield) {
  const auto [place, fresh] = ends_.try_emplace(members);
  if (!fresh) return *place->second;
  MPI_Group all;
  MPI_Group chosen;
  MPI_Comm comm;
  MPI_Comm_group(data_, &all);
  MPI_Group_incl(all, static_cast<int>(members.size()), members.data(), &chosen);
  MPI_Comm_create_group(data_, chosen, kGroupTag, &comm);
  communicators_[members] = comm;
  MPI_Group_free(&chosen);
  MPI_Group_free(&all);
  place->second = std::make_unique<LinkGroupEnd<MpiGroupLink>>(clock, comm, control_,
                                                               std::span(place->first), yield);
  return *place->second;
}

void MpiGroups::forget() {
  ends_.clear();
  for (auto& [members, communicator] : communicators_) MPI_Comm_free(&communicator);
  communicators_.clear();
}

}  // namespace wireproof
