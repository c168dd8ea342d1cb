# pure
"""Rules for the commands that set up a cluster: addresses, networks, clocks, drivers, packages, the
fabric.
"""
