// Compiled twice (check_abi_contract): with our mpi.h into a table of numbers, and with the real
// one into a program that compares its own numbers with the table. The assignments below compare
// the prototypes.
#include <cstdint>
#include <cstring>

struct Value {
  const char* name;
  std::intptr_t number;
};

#ifdef OURS
#include <mpi.h>
#else
#include REAL_HEADER
#include <cstdio>
extern const Value kOurs[];
extern const int kOurCount;
#endif

#define CONSTANT(name) \
  { #name, (std::intptr_t)(name) }
#define SIZE(type) \
  { "sizeof " #type, static_cast<std::intptr_t>(sizeof(type)) }
#define TABLE                                                                                      \
  {                                                                                                \
    CONSTANT(MPI_COMM_WORLD), CONSTANT(MPI_BYTE), CONSTANT(MPI_INFO_NULL),                         \
        CONSTANT(MPI_ERRORS_RETURN), CONSTANT(MPI_SUCCESS), SIZE(MPI_Errhandler),                  \
        CONSTANT(MPI_REQUEST_NULL), CONSTANT(MPI_STATUS_IGNORE), CONSTANT(MPI_STATUSES_IGNORE),    \
        CONSTANT(MPI_COMM_TYPE_SHARED), CONSTANT(MPI_MODE_NOCHECK),                                \
        CONSTANT(MPI_MAX_LIBRARY_VERSION_STRING), CONSTANT(MPI_DOUBLE), CONSTANT(MPI_FLOAT),       \
        CONSTANT(MPI_INT64_T), CONSTANT(MPI_LONG_LONG), CONSTANT(MPI_MAX), CONSTANT(MPI_NO_OP),    \
        CONSTANT(MPI_REPLACE), CONSTANT(MPI_SUM), CONSTANT(MPI_IN_PLACE),                          \
        CONSTANT(MPI_THREAD_SINGLE), CONSTANT(MPI_THREAD_MULTIPLE), SIZE(MPI_Count), SIZE(MPI_Op), \
        SIZE(MPI_Aint), SIZE(MPI_Status), SIZE(MPI_Comm), SIZE(MPI_Datatype), SIZE(MPI_Group),     \
        SIZE(MPI_Info), SIZE(MPI_Request), SIZE(MPI_Win),                                          \
        {"offset of MPI_TAG", static_cast<std::intptr_t>(offsetof(MPI_Status, MPI_TAG))},          \
        {"offset of MPI_ERROR", static_cast<std::intptr_t>(offsetof(MPI_Status, MPI_ERROR))},      \
  }

#include <cstddef>

#ifdef OURS
extern const Value kOurs[] = TABLE;
extern const int kOurCount = sizeof kOurs / sizeof kOurs[0];
#else

// The real prototypes must accept calls that match our declarations.
[[maybe_unused]] static int (*const kSend)(const void*, int, MPI_Datatype, int, int,
                                           MPI_Comm) = MPI_Send;
[[maybe_unused]] static int (*const kRecv)(void*, int, MPI_Datatype, int, int, MPI_Comm,
                                           MPI_Status*) = MPI_Recv;
[[maybe_unused]] static int (*const kPut)(const void*, int, MPI_Datatype, int, MPI_Aint, int,
                                          MPI_Datatype, MPI_Win) = MPI_Put;
[[maybe_unused]] static int (*const kAllocate)(MPI_Aint, int, MPI_Info, MPI_Comm, void*,
                                               MPI_Win*) = MPI_Win_allocate;
[[maybe_unused]] static int (*const kWaitall)(int, MPI_Request[], MPI_Status[]) = MPI_Waitall;
[[maybe_unused]] static int (*const kAccumulate)(const void*, int, MPI_Datatype, int, MPI_Aint, int,
                                                 MPI_Datatype, MPI_Op, MPI_Win) = MPI_Accumulate;
[[maybe_unused]] static int (*const kFetchAndOp)(const void*, void*, MPI_Datatype, int, MPI_Aint,
                                                 MPI_Op, MPI_Win) = MPI_Fetch_and_op;
[[maybe_unused]] static int (*const kCompareAndSwap)(const void*, const void*, void*, MPI_Datatype,
                                                     int, MPI_Aint, MPI_Win) = MPI_Compare_and_swap;
[[maybe_unused]] static int (*const kSendInit)(const void*, int, MPI_Datatype, int, int, MPI_Comm,
                                               MPI_Request*) = MPI_Send_init;
[[maybe_unused]] static int (*const kStartall)(int, MPI_Request[]) = MPI_Startall;
[[maybe_unused]] static int (*const kInitThread)(int*, char***, int, int*) = MPI_Init_thread;
[[maybe_unused]] static int (*const kAlltoall)(const void*, int, MPI_Datatype, void*, int,
                                               MPI_Datatype, MPI_Comm) = MPI_Alltoall;
[[maybe_unused]] static int (*const kIallreduce)(const void*, void*, int, MPI_Datatype, MPI_Op,
                                                 MPI_Comm, MPI_Request*) = MPI_Iallreduce;
[[maybe_unused]] static int (*const kIreduce)(const void*, void*, int, MPI_Datatype, MPI_Op, int,
                                              MPI_Comm, MPI_Request*) = MPI_Ireduce;
[[maybe_unused]] static int (*const kIgather)(const void*, int, MPI_Datatype, void*, int,
                                              MPI_Datatype, int, MPI_Comm,
                                              MPI_Request*) = MPI_Igather;

int main() {
  const Value theirs[] = TABLE;
  int different = 0;
  for (int i = 0; i < kOurCount; ++i) {
    if (kOurs[i].number == theirs[i].number) continue;
    std::printf("%s: ours %lld, real %lld\n", kOurs[i].name,
                static_cast<long long>(kOurs[i].number), static_cast<long long>(theirs[i].number));
    ++different;
  }
  std::printf("%d values, %d different\n", kOurCount, different);
  return different == 0 ? 0 : 1;
}
#endif
