# pure
"""Judge results: proof of the path, plausibility and verdict, each with a code of the closed
catalogue. Pure.
"""
