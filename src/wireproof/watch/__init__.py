"""A command between two readings of the ports: prove any command, run a benchmark."""
