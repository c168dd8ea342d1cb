"""Runs another project's benchmark: the right command for it, with its proof, and judged."""
