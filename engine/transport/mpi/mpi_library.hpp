// The MPI that answered.
#pragma once

#include <string>

namespace wireproof::mpi {

/// The first line of the library's description of itself.
std::string library_version();
/// The file that the dynamic linker loaded; "" if that is unknown.
std::string library_path();
/// Throws Failure if `expected` does not occur in the library's description, compared without case.
void check_library(const std::string& expected);

}  // namespace wireproof::mpi
