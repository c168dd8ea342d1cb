#include "base/failure.hpp"
#include "measure/watch.hpp"
#include "transport/openers.hpp"
#include "variant.hpp"

namespace wireproof {
namespace {

std::unique_ptr<Transport> refuse_mpi(const OpenRequest&) {
  throw bad_plan(
      "transport kind=mpi: this engine has no MPI; use the mpiabi, mpich or openmpi one");
}

}  // namespace

const Variant kVariant{WIREPROOF_ABI, false, refuse_mpi, open_ofi, watch_main};

}  // namespace wireproof
