"""What it takes to prove many nodes, as ``wireproof plan validate`` gives it."""

from __future__ import annotations

import msgspec

from wireproof.model.planning.bounds import Bounds
from wireproof.model.planning.scale import Parameter

__all__ = ["ScreenDesign", "Validation"]


class ScreenDesign(msgspec.Struct, frozen=True, kw_only=True):
    """A screen of so many ``rounds`` of disjoint pairs. ``least_slowdown``: that it finds with the
    power that is asked for; ``found``: probability that one slow port becomes a suspect;
    ``seconds``: from the least that gives intervals to the whole budget.
    """

    rounds: int
    pairs: int
    least_slowdown: float
    found: float
    seconds: Bounds


class Validation(msgspec.Struct, frozen=True, kw_only=True):
    """What ``wireproof plan validate --json`` prints.

    ``least``: the fewest rounds that do; None: no number of rounds does. ``check``: what
    ``wireproof check`` does by itself, which is ``enough`` or not. ``false_suspects``: expected in
    one sweep of healthy nodes, before they are measured again; ``confirm_s``: for each suspect.
    """

    nodes: int
    slowdown: float
    noise: float
    spread: float
    false_alarms: float
    power: float
    metric: str
    practical: float
    least: ScreenDesign | None
    check: ScreenDesign
    enough: bool
    others: list[ScreenDesign]
    false_suspects: float
    confirm_s: float
    message_bytes: int
    parameters: list[Parameter]
    sentences: list[str]
    sources: list[str]
    validity: list[str]
