"""A measurement: its points, launches, judgement, document and stored result."""
