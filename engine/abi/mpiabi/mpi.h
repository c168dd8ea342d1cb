/* The part of the MPI standard ABI (MPI 5.0, chapter 20) that the engine uses. Handles are opaque
 * pointers whose constants are small integers. Written from the standard; a contract
 * test compares it with a real mpi_abi.h. */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef intptr_t MPI_Aint;
typedef int64_t MPI_Count;
typedef struct {
  int MPI_SOURCE;
  int MPI_TAG;
  int MPI_ERROR;
  int MPI_internal[5];
} MPI_Status;

typedef struct MPI_ABI_Comm* MPI_Comm;
typedef struct MPI_ABI_Datatype* MPI_Datatype;
typedef struct MPI_ABI_Errhandler* MPI_Errhandler;
typedef struct MPI_ABI_Group* MPI_Group;
typedef struct MPI_ABI_Info* MPI_Info;
typedef struct MPI_ABI_Op* MPI_Op;
typedef struct MPI_ABI_Request* MPI_Request;
typedef struct MPI_ABI_Win* MPI_Win;

#define MPI_COMM_WORLD ((MPI_Comm)0x00000101)
#define MPI_BYTE ((MPI_Datatype)0x00000247)
#define MPI_DOUBLE ((MPI_Datatype)0x00000214)
#define MPI_FLOAT ((MPI_Datatype)0x00000210)
#define MPI_INT64_T ((MPI_Datatype)0x00000258)
#define MPI_LONG_LONG ((MPI_Datatype)0x0000020b)
#define MPI_MAX ((MPI_Op)0x00000023)
#define MPI_NO_OP ((MPI_Op)0x0000003d)
#define MPI_REPLACE ((MPI_Op)0x0000003c)
#define MPI_SUM ((MPI_Op)0x00000021)
#define MPI_ERRORS_RETURN ((MPI_Errhandler)0x00000143)
#define MPI_INFO_NULL ((MPI_Info)0x00000130)
#define MPI_REQUEST_NULL ((MPI_Request)0x00000180)
#define MPI_STATUS_IGNORE ((MPI_Status*)0)
#define MPI_STATUSES_IGNORE ((MPI_Status*)0)
#define MPI_IN_PLACE ((void*)1)
#define MPI_SUCCESS 0
#define MPI_THREAD_SINGLE 0
#define MPI_THREAD_MULTIPLE 4096
#define MPI_COMM_TYPE_SHARED 221
#define MPI_MODE_NOCHECK 1024
#define MPI_MAX_LIBRARY_VERSION_STRING 8192

#include "../prototypes.h"

#ifdef __cplusplus
}
#endif
