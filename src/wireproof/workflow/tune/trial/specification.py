"""What a trial is asked to measure, and the workloads that run in it."""

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
"""Variables of a run's environment; None: the variable is unset."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class RunNumbers:
    """The numbers of one run. ``guards``: by name; ``proof``: of its path, "" if it is not
    checked.
    """

    metric: float
    guards: dict[str, float]
    proof: str = ""


class Workload(AbstractContextManager["Workload"]):
    """What is run repeatedly. Leaving the context ends all its processes."""

    metric: Metric
    title: str
    notes: list[str]
    target: Target

    def __exit__(self, *_: object) -> None:
        """End nothing, because a launch leaves no process behind."""

    def check(self, knob: TriedKnob) -> None:
        """Raise ``BadInput`` for a variable that cannot have an effect in the runs.

        What a command reads is not checked.
        """

    def run(self, variables: Variables, shown: str) -> RunNumbers:
        """Run once with ``variables``; ``shown``: the value under trial, for messages.

        Raises ``CouldNotMeasure`` if the run fails, ``KeyboardInterrupt`` if the user stops it.
        """
        raise NotImplementedError


@dataclasses.dataclass(frozen=True, kw_only=True)
class OwnCommand:
    """A command of the user.

    ``reader`` None: its wall time is the metric. ``text``: of ``--metric``. ``longest_s``: a run
    that takes longer is stopped.
    """

    proof: ProofSpecification
    reader: Reader | None = None
    text: str = ""
    better: Better = "lower"
    longest_s: float = 60.0


@dataclasses.dataclass(frozen=True, kw_only=True)
class TrialSpecification:
    """``workload``: a pattern of wireproof or a command.

    ``smallest``: fraction below which an effect counts as none. ``budget_s``: no block is started
    that would end later. ``keep``: leave the best value applied, to be confirmed. For settings,
    ``place``: where the journals are on the hosts; ``allow_link_down``: links may go down for a
    moment.
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
