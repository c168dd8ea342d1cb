"""Slurm, PBS, LSF, Flux: the allocation that we run in, and how ranks are started there."""
