/* The MPI functions that the engine calls, and nothing else: the stubs define exactly these, and
 * prototypes.h declares them. One list, so that the two cannot drift apart. */
#define WIREPROOF_MPI_FUNCTIONS(X) \
  X(MPI_Bcast)                     \
  X(MPI_Comm_create_group)         \
  X(MPI_Comm_dup)                  \
  X(MPI_Comm_free)                 \
  X(MPI_Comm_group)                \
  X(MPI_Comm_rank)                 \
  X(MPI_Comm_set_errhandler)       \
  X(MPI_Comm_size)                 \
  X(MPI_Comm_split_type)           \
  X(MPI_Finalize)                  \
  X(MPI_Get)                       \
  X(MPI_Get_library_version)       \
  X(MPI_Get_version)               \
  X(MPI_Group_free)                \
  X(MPI_Group_incl)                \
  X(MPI_Ibarrier)                  \
  X(MPI_Init)                      \
  X(MPI_Irecv)                     \
  X(MPI_Isend)                     \
  X(MPI_Put)                       \
  X(MPI_Recv)                      \
  X(MPI_Send)                      \
  X(MPI_Test)                      \
  X(MPI_Waitall)                   \
  X(MPI_Win_allocate)              \
  X(MPI_Win_create)                \
  X(MPI_Win_flush)                 \
  X(MPI_Win_free)                  \
  X(MPI_Win_lock_all)              \
  X(MPI_Win_sync)                  \
  X(MPI_Win_unlock_all)
