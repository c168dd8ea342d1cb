"""What a trial is asked for, and what runs in it."""

import dataclasses
from collections.abc import Mapping
from contextlib import AbstractContextManager

from wireproof.model.experiment import Better, Metric, TriedKnob
from wireproof.model.setting import Profile
from wireproof.settings.knobs import Reader
from wireproof.workflow.prove.command import ProofSpecification
from wireproof.workflow.specification import MeasureSpecification
from wireproof.workflow.target.target import Target
from wireproof.workflow.tune.node import JournalPlace

Variables = Mapping[str, str | None]
"""Variables of a run's environment; None: not set."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class RunNumbers:
    """What one run gave. ``guards``: by name; ``proof``: of its path, "" where none is looked
    for.
    """

    metric: float
    guards: dict[str, float]
    proof: str = ""


class Workload(AbstractContextManager["Workload"]):
    """What is run again and again. Leaving it leaves no process."""

    metric: Metric
    title: str
    notes: list[str]
    target: Target

    def __exit__(self, *_: object) -> None:
        """A launch leaves nothing behind."""

    def check(self, knob: TriedKnob) -> None:
        """Raise ``BadInput`` for a variable that cannot have an effect in the runs; what a command
        reads is its own business.
        """

    def run(self, variables: Variables, shown: str) -> RunNumbers:
        """One run with ``variables``; ``shown``: the value under trial, for messages. Raises
        ``CouldNotMeasure`` when it fails, ``KeyboardInterrupt`` when the user ends it.
        """
        raise NotImplementedError


@dataclasses.dataclass(frozen=True, kw_only=True)
class OwnCommand:
    """A command of the user's. ``reader`` None: its wall time is the metric. ``text``: of
    ``--metric``. ``longest_s``: a run that takes longer is ended.
    """

    proof: ProofSpecification
    reader: Reader | None = None
    text: str = ""
    better: Better = "lower"
    longest_s: float = 60.0


@dataclasses.dataclass(frozen=True, kw_only=True)
class TrialSpecification:
    """``workload``: a pattern of our own or a command. ``smallest``: share below which an effect
    counts as none. ``budget_s``: no new block is begun that would end later. ``keep``: the best
    value is left applied, to be confirmed. Of settings: ``place``: where the journals are on the
    hosts; ``allow_link_down``: links may go down for a moment.
    """

    knob: TriedKnob
    workload: MeasureSpecification | OwnCommand
    seed: int
    smallest: float = 0.05
    budget_s: float = 60.0
    keep: bool = False
    profile: Profile = "throughput"
    place: JournalPlace | None = None
    allow_link_down: bool = False
