// What differs between the programs.
#pragma once

#include <memory>

#include "transport/concept.hpp"

namespace wireproof {

/// Opens the MPI of this variant; throws Failure in the variant without MPI.
std::unique_ptr<Transport> open_variant(const OpenRequest& request);

/// `watch`: every host has the variant without MPI, which alone carries it; the others throw
/// Failure.
int watch_variant(int argc, char** argv);

/// Whether this variant has an MPI at all.
extern const bool kHasMpi;

}  // namespace wireproof
