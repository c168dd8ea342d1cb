#!/bin/bash -l
#SBATCH -N 2
#SBATCH --ntasks-per-node=1
#SBATCH -J opa_perf_test
#SBATCH -p normal
#SBATCH -t 10
#SBATCH -o imb_perf_test-opa.out
#SBATCH -e imb_perf_test-opa.err

source /opt/intel/oneapi/mpi/latest/env/vars.sh
# Without an Omni-Path adapter this must fail, and not go another way.
export I_MPI_JOB_RESPECT_PROCESS_PLACEMENT=0 I_MPI_FABRICS=ofi FI_PROVIDER=psm2
mpirun -np 2 -ppn 1 IMB-P2P PingPong
