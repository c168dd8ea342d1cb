"""A history as linked pages: who was proven when, what has changed, runs, comparisons."""
