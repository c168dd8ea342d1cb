"""What the user asked for, typed; each value remembers where it came from (default, file,
environment, option).
"""
