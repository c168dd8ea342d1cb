"""Studies of a library's settings: the catalogue of knobs, the design, what is read back, what is
concluded. Pure.
"""
