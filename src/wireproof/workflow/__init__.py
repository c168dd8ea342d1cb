"""What wireproof does, as a typed library: each job takes a specification and returns a
document.
"""
