"""A history as linked pages: when each node was proven, what has changed, runs, comparisons."""
