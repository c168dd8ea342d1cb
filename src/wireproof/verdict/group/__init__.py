"""Points that a group of ranks measures together: which bytes must cross, and did they? Pure."""
