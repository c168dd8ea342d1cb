"""The jobs of wireproof as a typed library: each takes a specification and returns a document."""
