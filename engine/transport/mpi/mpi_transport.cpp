// The MPI transport: one process per rank, the launcher's library.
#include <mpi.h>

#include <map>

#include "pattern/link_pair.hpp"
#include "transport/mpi/abilities.hpp"
#include "transport/mpi/groups.hpp"
#include "transport/mpi/mpi_group.hpp"
#include "transport/mpi/mpi_library.hpp"
#include "transport/mpi/mpi_link.hpp"
#include "transport/openers.hpp"

namespace wireproof {
namespace {

class MpiTransport final : public Transport {
 public:
  MpiTransport(MPI_Comm data, MPI_Comm control)
      : data_(data), control_(control), group_(control), groups_(data, control) {
    MPI_Comm shared;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &shared);
    MPI_Comm_size(shared, &shared_ranks_);
    MPI_Comm_free(&shared);
    abilities_ = find_abilities(control_);
  }

  Group& group() override { return group_; }
  bool one_sided() const override { return true; }

  void configure(const Plan& plan) override {
    yield_ = plan.policy.yield;
    group_.set_yield(yield_);
    mpi::check_library(plan.expect);
  }

  LibraryFacts library() const override {
    int version = 0;
    int subversion = 0;
    MPI_Get_version(&version, &subversion);
    return {.version = mpi::library_version(),
            .path = mpi::library_path(),
            .standard = std::to_string(version) + "." + std::to_string(subversion),
            .shared_ranks = shared_ranks_};
  }

  void run_pair(int origin, int target, const HostClock& clock, const PairRoles& roles) override {
    const bool originates = group_.rank() == origin;
    const int peer = originates ? target : origin;
    auto& pair = pairs_[peer];
    if (!pair) {
      pair = std::make_unique<LinkPair<MpiLink>>(clock, data_, control_, group_.rank(), peer,
                                                 yield_, abilities_);
    }
    (originates ? roles.originate : roles.answer)(*pair);
  }

  void forget_pairs() override {
    pairs_.clear();
    groups_.forget();
  }
  bool has_groups() const override { return true; }
  void run_group(const std::vector<int>& members, const HostClock& clock,
                 const GroupRole& role) override {
    role(groups_.end_of(members, clock, yield_));
  }

  void close() override {
    pairs_.clear();
    MPI_Finalize();
  }

 private:
  MPI_Comm data_;
  MPI_Comm control_;
  MpiGroup group_;
  bool yield_ = false;
  int shared_ranks_ = 0;
  MpiAbilities abilities_;
  std::map<int, std::unique_ptr<LinkPair<MpiLink>>> pairs_;  // by peer
  MpiGroups groups_;
};

}  // namespace

std::unique_ptr<Transport> open_mpi(const OpenRequest& request) {
  start_mpi(request.argc, request.argv);
  MPI_Comm data;
  MPI_Comm control;
  MPI_Comm_dup(MPI_COMM_WORLD, &data);
  MPI_Comm_dup(MPI_COMM_WORLD, &control);
  return std::make_unique<MpiTransport>(data, control);
}

}  // namespace wireproof
