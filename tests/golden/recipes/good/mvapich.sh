#!/bin/bash
mpirun_rsh -np 2 n1 n2 MV2_IBA_HCA=mlx5_0 MV2_ENABLE_AFFINITY=1 ./osu_bw
module load mvapich2/2.3.7
srun --mpi=pmi2 -N 2 -n 2 --ntasks-per-node=1 ./osu_latency
