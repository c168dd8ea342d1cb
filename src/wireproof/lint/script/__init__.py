"""Checks of job scripts, MPI launches and benchmark commands."""
