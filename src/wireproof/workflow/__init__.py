"""What the product does, as a typed library: each job takes a specification, gives a document."""
