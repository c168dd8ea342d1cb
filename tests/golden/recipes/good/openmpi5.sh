#!/bin/sh
mpirun --host n1,n2 -np 2 --map-by ppr:1:node --mca pml ob1 --mca btl tcp,self,sm --mca btl_tcp_if_include eth1 ./osu_bibw
mpirun -np 8 --host n1:4,n2:4 --map-by ppr:4:node --bind-to core osu_allreduce
mpirun -np 2 --display map --prtemca plm_ssh_agent ssh --mca btl_tcp_if_include hsn0 --mca btl ^openib --host n1,n2 ./pp
mpirun --version
