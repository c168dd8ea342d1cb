"""Which MPI answers, which engine fits it, and the argv and environment that start a run. Builders
are pure.
"""
