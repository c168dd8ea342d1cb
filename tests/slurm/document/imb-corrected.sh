#!/bin/bash -l
#SBATCH -N 2
#SBATCH --ntasks-per-node=1
#SBATCH -J perf_test
#SBATCH -p normal
#SBATCH -t 20
#SBATCH -o imb_perf_test.out
#SBATCH -e imb_perf_test.err

source /opt/intel/oneapi/mpi/latest/env/vars.sh
# -ppn counts under Slurm, no shared memory even if it did not, and one network by name: eth0, or hsn0 for the fast one.
export I_MPI_JOB_RESPECT_PROCESS_PLACEMENT=0 I_MPI_FABRICS=ofi FI_PROVIDER=tcp FI_TCP_IFACE=${NIC:-eth0}
mpirun -np 2 -ppn 1 IMB-P2P PingPong
