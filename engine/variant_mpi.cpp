#include "base/failure.hpp"
#include "transport/openers.hpp"
#include "variant.hpp"

namespace wireproof {
namespace {

int refuse_watch(int, char**) {
  throw bad_plan("watch needs no MPI: use wireproof-engine.nompi watch");
}

}  // namespace

const Variant kVariant{WIREPROOF_ABI, true, open_mpi, open_ofi_by_mpi, refuse_watch};

}  // namespace wireproof
