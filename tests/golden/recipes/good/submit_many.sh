#!/bin/bash
# Writes one job per number of nodes and submits it.
for nodes in 2 4 8; do
    cat > "job.$nodes.sbatch" <<END
#!/bin/bash
#SBATCH --nodes=$nodes --ntasks-per-node=1
#SBATCH -o result.$nodes.out
srun --mpi=pmix osu_allreduce
END
    sbatch "job.$nodes.sbatch"
done
sbatch <<END
#!/bin/bash
#SBATCH -N ${N:-2} -J test-$USER
srun hostname
END
squeue -u "$USER"
