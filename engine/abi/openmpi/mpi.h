/* The part of Open MPI's ABI (libmpi.so.40: Open MPI 4 and 5) that the engine uses. Handles are
 * addresses of the library's data, so the engine is compiled as position-independent code: without
 * it the linker would copy that data into the program and the addresses would be wrong. A
 * contract test compares it with a real mpi.h. */
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef ptrdiff_t MPI_Aint;
typedef long long MPI_Count;
typedef struct {
  int MPI_SOURCE;
  int MPI_TAG;
  int MPI_ERROR;
  int _cancelled;
  size_t _ucount;
} MPI_Status;

typedef struct ompi_communicator_t* MPI_Comm;
typedef struct ompi_datatype_t* MPI_Datatype;
typedef struct ompi_errhandler_t* MPI_Errhandler;
typedef struct ompi_group_t* MPI_Group;
typedef struct ompi_info_t* MPI_Info;
typedef struct ompi_op_t* MPI_Op;
typedef struct ompi_request_t* MPI_Request;
typedef struct ompi_win_t* MPI_Win;

extern char ompi_mpi_comm_world[];
extern char ompi_mpi_byte[];
extern char ompi_mpi_double[];
extern char ompi_mpi_float[];
extern char ompi_mpi_int64_t[];
extern char ompi_mpi_long_long_int[];
extern char ompi_mpi_op_max[];
extern char ompi_mpi_op_no_op[];
extern char ompi_mpi_op_replace[];
extern char ompi_mpi_op_sum[];
extern char ompi_mpi_errors_return[];
extern char ompi_mpi_info_null[];
extern char ompi_request_null[];

#define MPI_COMM_WORLD ((MPI_Comm)(void*)ompi_mpi_comm_world)
#define MPI_BYTE ((MPI_Datatype)(void*)ompi_mpi_byte)
#define MPI_DOUBLE ((MPI_Datatype)(void*)ompi_mpi_double)
#define MPI_FLOAT ((MPI_Datatype)(void*)ompi_mpi_float)
#define MPI_INT64_T ((MPI_Datatype)(void*)ompi_mpi_int64_t)
#define MPI_LONG_LONG ((MPI_Datatype)(void*)ompi_mpi_long_long_int)
#define MPI_MAX ((MPI_Op)(void*)ompi_mpi_op_max)
#define MPI_NO_OP ((MPI_Op)(void*)ompi_mpi_op_no_op)
#define MPI_REPLACE ((MPI_Op)(void*)ompi_mpi_op_replace)
#define MPI_SUM ((MPI_Op)(void*)ompi_mpi_op_sum)
#define MPI_ERRORS_RETURN ((MPI_Errhandler)(void*)ompi_mpi_errors_return)
#define MPI_INFO_NULL ((MPI_Info)(void*)ompi_mpi_info_null)
#define MPI_REQUEST_NULL ((MPI_Request)(void*)ompi_request_null)
#define MPI_STATUS_IGNORE ((MPI_Status*)0)
#define MPI_STATUSES_IGNORE ((MPI_Status*)0)
#define MPI_IN_PLACE ((void*)1)
#define MPI_SUCCESS 0
#define MPI_THREAD_SINGLE 0
#define MPI_THREAD_MULTIPLE 3
#define MPI_COMM_TYPE_SHARED 0
#define MPI_MODE_NOCHECK 1
#define MPI_MAX_LIBRARY_VERSION_STRING 256

#include "../prototypes.h"

#ifdef __cplusplus
}
#endif
