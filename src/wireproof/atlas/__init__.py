"""The atlas of published numbers: measurements by others over the same kind of link. Pure."""
