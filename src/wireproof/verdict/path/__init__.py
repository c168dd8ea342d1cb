"""Which path the bytes took, as the byte ledgers of both ends saw it. Pure."""
