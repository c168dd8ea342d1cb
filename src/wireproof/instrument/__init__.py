"""Run a plan: a process tree under a guard, a deadline, a private run folder, and a check of every
frame.
"""
