/* The MPI functions that the engine calls, and nothing else: the stubs define exactly these, and
 * prototypes.h declares them. A single list keeps the two consistent. */
#define WIREPROOF_MPI_4_FUNCTIONS(X) \
  X(MPI_Parrived)                    \
  X(MPI_Pready)                      \
  X(MPI_Precv_init)                  \
  X(MPI_Psend_init)

#define WIREPROOF_MPI_FUNCTIONS(X) \
  X(MPI_Accumulate)                \
  X(MPI_Allgather)                 \
  X(MPI_Allreduce)                 \
  X(MPI_Alltoall)                  \
  X(MPI_Barrier)                   \
  X(MPI_Bcast)                     \
  X(MPI_Comm_create_group)         \
  X(MPI_Comm_dup)                  \
  X(MPI_Comm_free)                 \
  X(MPI_Comm_group)                \
  X(MPI_Comm_rank)                 \
  X(MPI_Comm_set_errhandler)       \
  X(MPI_Comm_size)                 \
  X(MPI_Comm_split)                \
  X(MPI_Comm_split_type)           \
  X(MPI_Compare_and_swap)          \
  X(MPI_Fetch_and_op)              \
  X(MPI_Finalize)                  \
  X(MPI_Get)                       \
  X(MPI_Get_library_version)       \
  X(MPI_Get_version)               \
  X(MPI_Group_free)                \
  X(MPI_Group_incl)                \
  X(MPI_Iallgather)                \
  X(MPI_Iallreduce)                \
  X(MPI_Ialltoall)                 \
  X(MPI_Ibarrier)                  \
  X(MPI_Ibcast)                    \
  X(MPI_Igather)                   \
  X(MPI_Init)                      \
  X(MPI_Init_thread)               \
  X(MPI_Irecv)                     \
  X(MPI_Ireduce)                   \
  X(MPI_Isend)                     \
  X(MPI_Put)                       \
  X(MPI_Query_thread)              \
  X(MPI_Recv)                      \
  X(MPI_Recv_init)                 \
  X(MPI_Reduce)                    \
  X(MPI_Request_free)              \
  X(MPI_Send)                      \
  X(MPI_Send_init)                 \
  X(MPI_Sendrecv)                  \
  X(MPI_Start)                     \
  X(MPI_Startall)                  \
  X(MPI_Test)                      \
  X(MPI_Testall)                   \
  X(MPI_Wait)                      \
  X(MPI_Waitall)                   \
  X(MPI_Win_allocate)              \
  X(MPI_Win_create)                \
  X(MPI_Win_flush)                 \
  X(MPI_Win_free)                  \
  X(MPI_Win_lock_all)              \
  X(MPI_Win_sync)                  \
  X(MPI_Win_unlock_all)
