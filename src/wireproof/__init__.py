"""wireproof proves what an HPC interconnect does."""

__version__ = "0.1.0"
