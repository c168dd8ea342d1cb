"""Typed options of the user; each value records its origin (default, file,
environment, option).
"""
