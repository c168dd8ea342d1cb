"""Slurm, PBS, LSF, Flux: the allocation of this process, and how ranks are started there."""
