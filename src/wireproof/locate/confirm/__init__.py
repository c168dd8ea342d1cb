"""Suspects measured again alone, and what is concluded from both stages."""
