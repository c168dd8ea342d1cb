// Features that not every MPI has: partitioned messages and calls from several threads.
#pragma once

#include <mpi.h>

#include <string>

namespace wireproof {

/// True only if it is true on every rank; the text is the error for a point that needs the feature.
struct MpiAbilities {
  bool partitions = false;
  bool threads = false;
  std::string no_partitions{};
  std::string no_threads{};
};

/// MPI_Init, or MPI_Init_thread with MPI_THREAD_MULTIPLE if the launcher has set WIREPROOF_THREADS
/// to a number above 0: the plan is not known yet, and unnecessary locks would change every number.
void start_mpi(int* argc, char*** argv);

/// Collective.
MpiAbilities find_abilities(MPI_Comm everybody);

}  // namespace wireproof
