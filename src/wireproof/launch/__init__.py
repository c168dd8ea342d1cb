"""Find a usable MPI, the engine that matches it, and the argv and environment that start a run.
Builders are pure.
"""
