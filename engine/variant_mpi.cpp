#include "base/failure.hpp"
#include "transport/openers.hpp"
#include "variant.hpp"

namespace wireproof {
namespace {

int refuse_watch(int, char**) {
  throw bad_plan("watch needs no MPI: use wireproof-engine.nompi watch");
}

std::unique_ptr<Transport> refuse_ofi(const OpenRequest&) {
  throw bad_plan("transport kind=ofi needs no MPI: use wireproof-engine.nompi");
}

}  // namespace

const Variant kVariant{WIREPROOF_ABI, true, open_mpi, refuse_ofi, refuse_watch};

}  // namespace wireproof
