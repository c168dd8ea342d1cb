"""The atlas of published numbers: what others have measured over the same kind of link. Pure."""
