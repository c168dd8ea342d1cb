# pure
"""Finds slow nodes, ports, links and switches. Pure: from samples and a fabric, it returns culprits
with their confidence.
"""
