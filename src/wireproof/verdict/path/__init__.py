"""Which path the bytes took, according to the byte ledgers of both ends. Pure."""
