"""The same two hosts, layer by layer: where are time and rate lost between the wire and the job?

Times are nanoseconds, rates bytes per second; ``None`` means unknown, never zero. A layer's line
is t(s) = start + s / rate.
"""

from typing import Literal, get_args

import msgspec

from wireproof.model.experiment import Interval
from wireproof.model.finding import Finding, Proof, Verdict

LayerName = Literal["verbs", "tcp", "ofi", "mpi", "collective", "application"]
LAYERS: tuple[LayerName, ...] = get_args(LayerName)
"""From the wire up."""
Collective = Literal["allreduce", "alltoall", "broadcast"]
COLLECTIVES: tuple[Collective, ...] = get_args(Collective)
"""Between two ranks each is one step of s bytes, so that its closed form is o + s/R, as that of a
message (Thakur, Rabenseifner and Gropp 2005, sections 4 to 6, with p = 2).
"""
APPLICATIONS = ("exchange", "put", "get", "ring", "incast", "all_to_all", "allgather")
"""Patterns of our own that may stand for the application."""
Quantity = Literal["start", "rate", "windowed"]
"""What a step may lose: time before the first byte (o), bytes per second of one message under way
(R), or of many (W), as bandwidth benchmarks print it.
"""
StepAnswer = Literal["loses", "no-loss", "undecided"]


class SizeTime(msgspec.Struct, frozen=True, kw_only=True):
    """Median over the rounds of the time of one message, ns."""

    message_bytes: int
    time_ns: float


class LayerLine(msgspec.Struct, frozen=True, kw_only=True):
    """What was fitted. ``start`` (ns) is of the small messages' line, ``rate`` (bytes/s) of the
    large ones', ``windowed`` (bytes/s) of many of the largest under way; None: not measured, or
    the sizes do not give it.

    ``switch_bytes``: the largest size before the line breaks (eager to rendezvous), None: no break.
    ``residual``: relative, root mean square, of the medians.
    """

    start: Interval | None
    rate: Interval | None
    windowed: Interval | None = None
    switch_bytes: int | None = None
    residual: float | None = None


class Layer(msgspec.Struct, frozen=True, kw_only=True):
    """``how``: what was measured. ``proof``: of the path; "" where a model plays the wire.
    ``apart``: why it takes no part in a claim, "" when it does. ``form``: the closed form that the
    line stands for. ``waited``: share of the time that the poorer end's process waited for a
    processor, median over the points; None: not known.
    """

    name: LayerName
    title: str
    how: str
    form: str
    proof: Proof | Literal[""]
    line: LayerLine
    times: list[SizeTime]
    rounds: int
    waited: float | None = None
    apart: str = ""


class MissingLayer(msgspec.Struct, frozen=True, kw_only=True):
    """A layer that could not be measured here, and why."""

    name: LayerName
    title: str
    why: str


class LayerStep(msgspec.Struct, frozen=True, kw_only=True):
    """From one layer to the next one above that takes part, in one quantity.

    ``ratio``: how many times longer the start, or lower the rate, of ``upper`` is (1: the same).
    ``difference``: start: ns more; rate: bytes/s less. The intervals of all steps hold together.
    ``p``: of no loss above the threshold, adjusted for all steps (Holm).
    ``regained``: a layer above that is as good as ``lower``, so that it does not pay this loss.
    """

    lower: LayerName
    upper: LayerName
    quantity: Quantity
    answer: StepAnswer
    ratio: float
    low: float | None
    high: float | None
    difference: Interval
    p: float
    regained: LayerName | None = None
    text: str = ""


class Hint(msgspec.Struct, frozen=True, kw_only=True):
    """A knob of a layer: what it does, and the command that says whether it helps here."""

    layer: LayerName
    name: str
    does: str
    command: str


class PlannedLayer(msgspec.Struct, frozen=True, kw_only=True):
    """What would be run for a layer in a round, as lines for a shell."""

    name: LayerName
    title: str
    commands: list[str]


class LadderPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What ``wireproof ladder --dry-run --json`` prints."""

    hosts: list[str]
    rounds: int
    seed: int
    layers: list[PlannedLayer]
    notes: list[str] = msgspec.field(default_factory=list)


class Ladder(msgspec.Struct, frozen=True, kw_only=True):
    """What ``wireproof ladder --json`` prints. ``smallest``: share below which a loss is none.

    ``attainable_bytes_per_s``: what the claimed link can carry, None: no link is known.
    """

    schema: str = "wireproof.ladder"
    version: int = 1
    hosts: list[str]
    nic: str
    link: str
    attainable_bytes_per_s: float | None
    rounds: int
    seed: int
    alpha: float
    smallest: float
    layers: list[Layer]
    missing: list[MissingLayer]
    steps: list[LayerStep]
    findings: list[Finding]
    hints: list[Hint]
    verdict: Verdict
    answer: str
    seconds: float
    notes: list[str] = msgspec.field(default_factory=list)
