/* The part of the MPICH ABI (MPICH 3.1 and later, Intel MPI, MVAPICH2, Cray MPICH) that the engine
 * uses. Handles are ints. Held against a real mpi.h by a contract test. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

typedef long MPI_Aint;
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
typedef int MPI_Request;
typedef int MPI_Win;

#define MPI_COMM_WORLD ((MPI_Comm)0x44000000)
#define MPI_BYTE ((MPI_Datatype)0x4c00010d)
#define MPI_ERRORS_RETURN ((MPI_Errhandler)0x54000001)
#define MPI_INFO_NULL ((MPI_Info)0x1c000000)
#define MPI_REQUEST_NULL ((MPI_Request)0x2c000000)
#define MPI_STATUS_IGNORE ((MPI_Status*)1)
#define MPI_STATUSES_IGNORE ((MPI_Status*)1)
#define MPI_SUCCESS 0
#define MPI_COMM_TYPE_SHARED 1
#define MPI_MODE_NOCHECK 1024
#define MPI_MAX_LIBRARY_VERSION_STRING 8192

#include "../prototypes.h"

#ifdef __cplusplus
}
#endif
