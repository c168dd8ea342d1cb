#!/bin/bash -l
#SBATCH -N 2
#SBATCH --ntasks-per-node=1
#SBATCH -J perf_test
#SBATCH -p normal
#SBATCH -t 20
#SBATCH -o osu_perf_test.out
#SBATCH -e osu_perf_test.err

export PATH=/usr/lib64/openmpi/bin:$PATH
# The program on mpirun's own line; the network by name, else both are used; a window that works over TCP.
mpirun -n 2 --map-by ppr:1:node --bind-to none -mca pml ob1 -mca btl self,tcp -mca btl_tcp_if_include eth0 -mca osc pt2pt \
    ~/osu_benchmarks/libexec/osu-micro-benchmarks/mpi/one-sided/osu_put_bw
