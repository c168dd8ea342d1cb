"""Figures as SVG: the same drawing on the page and in a file."""
