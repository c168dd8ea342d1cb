// Transport ofi for ranks that an MPI has started: they exchange their addresses through it.
#include <mpi.h>

#include "transport/exchange.hpp"
#include "transport/mpi/abilities.hpp"
#include "transport/mpi/mpi_group.hpp"
#include "transport/mpi/mpi_library.hpp"
#include "transport/openers.hpp"

namespace wireproof {

std::unique_ptr<Transport> open_ofi_by_mpi(const OpenRequest& request) {
  if (!request.meet.empty()) return open_ofi(request);
  start_mpi(request.argc, request.argv);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  auto group = std::make_unique<MpiGroup>(comm);
  MpiGroup* const ranks = group.get();
  return open_ofi_over({.group = std::move(group),
                        .means = "mpi",
                        .library = mpi::library_version(),
                        .check =
                            [ranks](const Plan& plan) {
                              ranks->set_yield(plan.policy.yield);
                              mpi::check_library(plan.expect);
                            },
                        .end = [] { MPI_Finalize(); }});
}

}  // namespace wireproof
