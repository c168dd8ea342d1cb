// Which MPI answered.
#pragma once

#include <string>

namespace wireproof::mpi {

/// As the library names itself, its first line.
std::string library_version();
/// The file that the dynamic linker took; "" where it does not say.
std::string library_path();
/// Throws Failure when `expected` does not occur in how it names itself, compared without case.
void check_library(const std::string& expected);

}  // namespace wireproof::mpi
