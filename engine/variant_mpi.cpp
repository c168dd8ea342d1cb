#include "transport/openers.hpp"
#include "variant.hpp"

namespace wireproof {

const bool kHasMpi = true;
std::unique_ptr<Transport> open_variant(const OpenRequest& request) { return open_mpi(request); }

}  // namespace wireproof
