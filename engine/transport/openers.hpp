// One line per transport.
#pragma once

#include <memory>

#include "transport/concept.hpp"

namespace wireproof {

std::unique_ptr<Transport> open_null(const OpenRequest& request);
std::unique_ptr<Transport> open_model(const OpenRequest& request);
std::unique_ptr<Transport> open_tcp(const OpenRequest& request);
std::unique_ptr<Transport> open_ofi(const OpenRequest& request);
// in each MPI variant; the nompi variant has none
std::unique_ptr<Transport> open_mpi(const OpenRequest& request);
std::unique_ptr<Transport> open_ofi_by_mpi(const OpenRequest& request);

}  // namespace wireproof
