"""A local page over a history: who was proven when, what has changed, runs, comparisons."""
