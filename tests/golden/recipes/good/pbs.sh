#!/bin/bash
#PBS -l select=2:ncpus=48:mpiprocs=1
#PBS -l walltime=00:10:00
cd "$PBS_O_WORKDIR"
mpirun -machinefile "$PBS_NODEFILE" -np 2 -ppn 1 -genv FI_PROVIDER verbs -genv FI_VERBS_IFACE ib0 ./IMB-MPI1 PingPong
