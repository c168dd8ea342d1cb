/* The part of the MPICH ABI (MPICH 3.1 and later, Intel MPI, MVAPICH2, Cray MPICH) that the engine
 * uses. Handles are ints. A contract test compares it with a real mpi.h. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

typedef long MPI_Aint;
typedef long long MPI_Count;
typedef struct {
  int count_lo;
  int count_hi_and_cancelled;
  int MPI_SOURCE;
  int MPI_TAG;
  int MPI_ERROR;
} MPI_Status;

typedef int MPI_Comm;
typedef int MPI_Datatype;
typedef int MPI_Errhandler;
typedef int MPI_Group;
typedef int MPI_Info;
typedef int MPI_Op;
typedef int MPI_Request;
typedef int MPI_Win;

#define MPI_COMM_WORLD ((MPI_Comm)0x44000000)
#define MPI_BYTE ((MPI_Datatype)0x4c00010d)
#define MPI_DOUBLE ((MPI_Datatype)0x4c00080b)
#define MPI_FLOAT ((MPI_Datatype)0x4c00040a)
#define MPI_INT64_T ((MPI_Datatype)0x4c00083a)
#define MPI_LONG_LONG ((MPI_Datatype)0x4c000809)
#define MPI_MAX ((MPI_Op)0x58000001)
#define MPI_NO_OP ((MPI_Op)0x5800000e)
#define MPI_REPLACE ((MPI_Op)0x5800000d)
#define MPI_SUM ((MPI_Op)0x58000003)
#define MPI_ERRORS_RETURN ((MPI_Errhandler)0x54000001)
#define MPI_INFO_NULL ((MPI_Info)0x1c000000)
#define MPI_REQUEST_NULL ((MPI_Request)0x2c000000)
#define MPI_STATUS_IGNORE ((MPI_Status*)1)
#define MPI_STATUSES_IGNORE ((MPI_Status*)1)
#define MPI_IN_PLACE ((void*)-1)
#define MPI_SUCCESS 0
#define MPI_THREAD_SINGLE 0
#define MPI_THREAD_MULTIPLE 3
#define MPI_COMM_TYPE_SHARED 1
#define MPI_MODE_NOCHECK 1024
#define MPI_MAX_LIBRARY_VERSION_STRING 8192

#include "../prototypes.h"

#ifdef __cplusplus
}
#endif
