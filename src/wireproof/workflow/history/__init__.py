"""Results over time: kept, listed, and asked whether something has changed."""
