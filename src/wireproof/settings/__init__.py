"""Options of the user, typed; each value remembers its origin (default, file,
environment, option).
"""
