"""A command whose ports were watched while it ran (``wireproof prove``): did its bytes cross?
Pure.
"""

from __future__ import annotations

from wireproof.verdict.external.watched.conclusion import judge_traffic

__all__ = ["judge_traffic"]
