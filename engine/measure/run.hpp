// `run`: one plan from its text to the last frame.
#pragma once

#include <memory>

#include "base/arguments.hpp"
#include "transport/concept.hpp"

namespace wireproof {

/// The differences between the engine's programs.
struct Variant {
  const char* abi;
  /// Whether it has an MPI.
  bool has_mpi;
  /// Opens the MPI of this variant; throws Failure in the variant without MPI.
  std::unique_ptr<Transport> (*open_mpi)(const OpenRequest&);
  /// libfabric without an MPI, only in the variant without MPI; the others throw Failure, which
  /// keeps them small.
  std::unique_ptr<Transport> (*open_ofi)(const OpenRequest&);
  /// `watch` is only in the variant without MPI, which every host has; the others throw Failure.
  int (*watch)(int argc, char** argv);
};

/// The exit status. Every failure is reported here: as an `error` frame, and on standard error. A
/// library that opens a transport may change `argc` and `argv`.
int run(const Arguments& arguments, const Variant& variant, int argc, char** argv);

}  // namespace wireproof
