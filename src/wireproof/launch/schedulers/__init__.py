"""Slurm, PBS, LSF, Flux: the allocation of this process, and the start of ranks in it."""
