"""``wireproof explain CODE``: what a finding means and what to do next."""

from __future__ import annotations

import click

__all__ = ["command"]
