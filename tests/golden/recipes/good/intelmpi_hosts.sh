#!/bin/bash
. /opt/intel/oneapi/mpi/latest/env/vars.sh
mpiexec.hydra -launcher ssh -hosts n1,n2 -ppn 1 -n 2 -genv FI_PROVIDER mlx -genv UCX_NET_DEVICES mlx5_0:1 IMB-MPI1 PingPong
mpirun -f hostfile -ppn 24 -n 48 -genv FI_PROVIDER "verbs;ofi_rxm" -genv I_MPI_DEBUG 5 -genv I_MPI_PIN_DOMAIN core IMB-MPI1 Allreduce -npmin 48
mpirun -print-rank-map -ppn 1 -hosts c1,c2 -genv FI_PROVIDER=tcp -genv FI_TCP_IFACE=eth2 -n 2 IMB-MPI1 pingpong
export I_MPI_ADJUST_ALLREDUCE=2 I_MPI_HYDRA_BOOTSTRAP=ssh I_MPI_HYDRA_PMI_CONNECT=alltoall
