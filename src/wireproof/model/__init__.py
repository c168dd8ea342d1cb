"""The vocabulary: Record (measured), Fact (observed), Finding (concluded). Standard library and
msgspec only.
"""
