"""Our numbers beside those of the benchmarks that people use today, paired and interleaved in one
run.
"""
