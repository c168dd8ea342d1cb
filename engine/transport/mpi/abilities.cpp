#include "transport/mpi/abilities.hpp"

#include <array>
#include <cstdint>
#include <cstdlib>

namespace wireproof {
namespace {

constexpr const char* kAsked = "WIREPROOF_THREADS";

bool threads_are_asked() {
  const char* const text = std::getenv(kAsked);
  return text != nullptr && std::strtol(text, nullptr, 10) > 0;
}

bool threads_are_granted() {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  return level >= MPI_THREAD_MULTIPLE;
}

/// Weak symbols: a library older than MPI 4 lacks them.
bool has_partitions() {
  return &MPI_Psend_init != nullptr && &MPI_Precv_init != nullptr && &MPI_Pready != nullptr &&
         &MPI_Parrived != nullptr;
}

}  // namespace

void start_mpi(int* argc, char*** argv) {
  if (!threads_are_asked()) {
    MPI_Init(argc, argv);
    return;
  }
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
}

MpiAbilities find_abilities(MPI_Comm everybody) {
  const std::array<std::int64_t, 3> own{has_partitions() ? 0 : 1, threads_are_granted() ? 0 : 1,
                                        threads_are_asked() ? 0 : 1};
  std::array<std::int64_t, 3> lacking{};  // on any rank
  MPI_Allreduce(own.data(), lacking.data(), static_cast<int>(own.size()), MPI_INT64_T, MPI_MAX,
                everybody);
  MpiAbilities found{.partitions = lacking[0] == 0, .threads = lacking[1] == 0};
  found.no_partitions =
      "this MPI library has no partitioned messages (MPI_Psend_init, MPI 4.0); measure persistent "
      "instead, or with a newer MPI";
  found.no_threads =
      lacking[2] != 0
          ? "several threads need MPI_THREAD_MULTIPLE, which is asked for when MPI starts: set "
            "WIREPROOF_THREADS in the environment of every rank"
          : "this MPI library does not let several threads call it: it grants less than "
            "MPI_THREAD_MULTIPLE; use a build of it with thread support";
  return found;
}

}  // namespace wireproof
