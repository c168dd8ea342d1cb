// `run`: one plan from its text to the last frame.
#pragma once

#include <memory>

#include "base/arguments.hpp"
#include "transport/concept.hpp"

namespace wireproof {

/// What differs between the programs.
struct Variant {
  const char* abi;
  /// Whether it has an MPI at all.
  bool has_mpi;
  /// Opens the MPI of this variant; throws Failure in the variant without MPI.
  std::unique_ptr<Transport> (*open_mpi)(const OpenRequest&);
  /// libfabric without an MPI: in the variant without one; the others throw Failure, and stay
  /// small.
  std::unique_ptr<Transport> (*open_ofi)(const OpenRequest&);
  /// `watch`: every host has the variant without MPI, which alone carries it; the others throw
  /// Failure.
  int (*watch)(int argc, char** argv);
};

/// The exit status. Whatever fails is reported here: as an `error` frame, and on standard error.
/// A library that opens a transport may change `argc` and `argv`.
int run(const Arguments& arguments, const Variant& variant, int argc, char** argv);

}  // namespace wireproof
