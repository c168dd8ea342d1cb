"""Which node, port, link or switch is slow. Pure: samples and a fabric in, culprits with their
confidence out.
"""
