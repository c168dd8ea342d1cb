"""Results over time: stored, listed, and checked for changes."""
