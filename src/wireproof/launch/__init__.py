"""Find the MPI that answers, the engine that fits it, and the argv and environment that start a
run. Builders are pure.
"""
