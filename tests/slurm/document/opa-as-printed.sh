#!/bin/bash -I
#SBATCH -N 2
#SBATCH -J opa_perf_test
#SBATCH -p normal
#SBATCH -t 10
#SBATCH -o imb_perf_test-opa.out
#SBATCH -e imb_perf_test-opa.err

source /opt/intel/oneapi/mpi/latest/env/vars.sh
mpirun -genv I_MPI_FABRICS shm:tmi -genv I_MPI_TMI_PROVIDER psm2 -np 2 -ppn 1 IMB-P2P PingPong
