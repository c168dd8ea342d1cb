#!/usr/bin/env bash
set -euo pipefail
module load gcc/12 openmpi/4.1.5
HOSTS=node[01-02]
export OMPI_MCA_pml=ucx OMPI_MCA_btl=^openib
for size in 8 1024 1048576; do
    mpirun --hostfile hosts.txt -np 2 --map-by node --bind-to core \
        -x UCX_NET_DEVICES=mlx5_0:1 -x UCX_TLS=rc_x,sm,self -x LD_LIBRARY_PATH \
        "$OSU/pt2pt/osu_latency" -m "$size:$size" 2>&1 | tee "latency.$size.txt"
done
if ! grep -q "# OSU" latency.8.txt; then echo "don't know what happened" >&2; exit 1; fi
