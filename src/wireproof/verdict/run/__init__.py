"""Judge a run of our own engine: ``judge`` is the sequence, the other modules are its steps.

Pure.
"""
