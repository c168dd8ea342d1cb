"""The shared types: Record (measured), Fact (observed), Finding (concluded). Only the standard
library and msgspec.
"""
