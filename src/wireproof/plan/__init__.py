"""Planning: which points, between which pairs, in which order. Pure."""
