"""Planning: which points are measured, between which pairs, in which order. Pure."""
