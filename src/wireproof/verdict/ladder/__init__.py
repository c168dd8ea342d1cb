"""Which step between two layers loses time or rate, and what is concluded of it. Pure."""

from wireproof.verdict.ladder.findings import KNOBS, JudgedSteps, LayerKnob, hints_for, judge_ladder
from wireproof.verdict.ladder.steps import Rung, decided

__all__ = ["KNOBS", "JudgedSteps", "LayerKnob", "Rung", "decided", "hints_for", "judge_ladder"]
