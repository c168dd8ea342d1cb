"""Judge PSM3's own counters: the path, losses, and settings that did not take effect. Pure."""

from wireproof.verdict.psm3.judge import judge_statistics

__all__ = ["judge_statistics"]
