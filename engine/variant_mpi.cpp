#include "base/failure.hpp"
#include "transport/openers.hpp"
#include "variant.hpp"

namespace wireproof {

const bool kHasMpi = true;

int watch_variant(int, char**) {
  throw bad_plan("watch needs no MPI: use wireproof-engine.nompi watch");
}

std::unique_ptr<Transport> open_variant(const OpenRequest& request) { return open_mpi(request); }

}  // namespace wireproof
