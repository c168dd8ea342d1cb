"""Runs one plan: one process tree under a guard, a deadline, a private run folder, every frame
checked.
"""
