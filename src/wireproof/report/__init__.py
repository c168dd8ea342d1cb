"""Results for readers: the same values as text for a terminal, one HTML page, one JSON object, and
progress while a run lasts.
"""
