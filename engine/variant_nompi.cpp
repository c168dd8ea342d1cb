#include "base/failure.hpp"
#include "measure/watch.hpp"
#include "variant.hpp"

namespace wireproof {

const bool kHasMpi = false;

int watch_variant(int argc, char** argv) { return watch_main(argc, argv); }

std::unique_ptr<Transport> open_variant(const OpenRequest&) {
  throw bad_plan(
      "transport kind=mpi: this engine has no MPI; use the mpiabi, mpich or openmpi one");
}

}  // namespace wireproof
