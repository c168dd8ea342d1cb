"""Judgement: proof of the path, plausibility, verdict, each with a code of the closed catalogue. Pure."""

from __future__ import annotations

from wireproof.verdict.catalogue import CATALOGUE, Entry, explain, explain_text
from wireproof.verdict.judge import judge, overall

__all__ = ["CATALOGUE", "Entry", "explain", "explain_text", "judge", "overall"]
