"""PSM3's own counters, judged: which path, what was lost, what was promised and not kept. Pure."""

from wireproof.verdict.psm3.judge import judge_statistics

__all__ = ["judge_statistics"]
