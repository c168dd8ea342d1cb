/* A library with an MPI's soname and none of its code: it exists for the linker only, and must
 * never be shipped. */
#include "functions.h"

#define DEFINE(name) \
  int name(void);    \
  int name(void) { return -1; }
WIREPROOF_MPI_FUNCTIONS(DEFINE)
WIREPROOF_MPI_4_FUNCTIONS(DEFINE)

#ifdef WIREPROOF_STUB_OPENMPI
/* Open MPI's handles are the addresses of these. Sizes are irrelevant: nobody copies them (contract
 * test). */
char ompi_mpi_comm_world[512];
char ompi_mpi_byte[512];
char ompi_mpi_double[512];
char ompi_mpi_float[512];
char ompi_mpi_int64_t[512];
char ompi_mpi_long_long_int[512];
char ompi_mpi_op_max[512];
char ompi_mpi_op_no_op[512];
char ompi_mpi_op_replace[512];
char ompi_mpi_op_sum[512];
char ompi_mpi_errors_return[512];
char ompi_mpi_info_null[512];
char ompi_request_null[512];
#endif
