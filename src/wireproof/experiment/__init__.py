"""Experiments: arms measured in blocks of random order, and the effects between them.

Pure: callers provide clock and bench.
"""
