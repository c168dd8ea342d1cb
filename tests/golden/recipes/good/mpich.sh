#!/bin/bash
# MPICH with UCX over one interface
export UCX_NET_DEVICES=hsn0
export UCX_TLS=tcp,self
mpiexec -launcher ssh -hosts n1,n2 -ppn 1 -n 2 -bind-to core ./osu_latency
mpiexec.mpich -f hosts -n 4 -ppn 2 -genv UCX_LOG_LEVEL info ./osu_mbw_mr
mpiexec -n 2 -ppn 1 -iface eth0 -env FI_PROVIDER tcp -env FI_TCP_IFACE hsn0 ./osu_bw
