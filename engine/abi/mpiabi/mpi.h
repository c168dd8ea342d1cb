/* The part of the MPI standard ABI (MPI 5.0, chapter 20) that the engine uses. Handles are opaque
 * pointers whose constants are small integers. Written from the standard; held against a real
 * mpi_abi.h by a contract test. */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef intptr_t MPI_Aint;
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
typedef struct MPI_ABI_Request* MPI_Request;
typedef struct MPI_ABI_Win* MPI_Win;

#define MPI_COMM_WORLD ((MPI_Comm)0x00000101)
#define MPI_BYTE ((MPI_Datatype)0x00000247)
#define MPI_ERRORS_RETURN ((MPI_Errhandler)0x00000143)
#define MPI_INFO_NULL ((MPI_Info)0x00000130)
#define MPI_REQUEST_NULL ((MPI_Request)0x00000180)
#define MPI_STATUS_IGNORE ((MPI_Status*)0)
#define MPI_STATUSES_IGNORE ((MPI_Status*)0)
#define MPI_SUCCESS 0
#define MPI_COMM_TYPE_SHARED 221
#define MPI_MODE_NOCHECK 1024
#define MPI_MAX_LIBRARY_VERSION_STRING 8192

#include "../prototypes.h"

#ifdef __cplusplus
}
#endif
