"""Experiments: arms that are measured in blocks of random order, and what they differ in. Pure: the
clock and the bench are given.
"""
