"""Points that a group of ranks measures together: what must cross, and whether it did. Pure."""
