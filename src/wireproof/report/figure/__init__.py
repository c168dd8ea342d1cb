"""Figures as SVG of our own: the same drawing on the page and in a file."""
