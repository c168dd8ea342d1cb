# pure
"""The same two hosts measured layer by layer: where time and rate are lost between the wire and the
job.

Times are in nanoseconds, rates in bytes per second; ``None`` means unknown, never zero. The line of
a layer is t(s) = start + s / rate.
"""

from typing import Literal, get_args

import msgspec

from wireproof.model.experiment import ExperimentResult, Interval
from wireproof.model.finding import Finding, Proof, Verdict

LayerName = Literal["verbs", "tcp", "ofi", "mpi", "collective", "application"]
LAYERS: tuple[LayerName, ...] = get_args(LayerName)
"""The layers, from the wire up."""
Collective = Literal["allreduce", "alltoall", "broadcast"]
COLLECTIVES: tuple[Collective, ...] = get_args(Collective)
"""Between two ranks, each of these is one step of s bytes, so its closed form is o + s/R, like that
of a message (Thakur, Rabenseifner and Gropp 2005, sections 4 to 6, with p = 2).
"""
APPLICATIONS = ("exchange", "put", "get", "ring", "incast", "all_to_all", "allgather")
"""wireproof's patterns that can stand for the application."""
Quantity = Literal["start", "rate", "windowed"]
"""The quantities that a step may lose: time before the first byte (o), bytes per second with one
message in flight (R), or with many in flight (W), as bandwidth benchmarks print it.
"""
StepAnswer = Literal["loses", "no-loss", "undecided"]


class SizeTime(msgspec.Struct, frozen=True, kw_only=True):
    """Median time of one message over the rounds, in ns."""

    message_bytes: int
    time_ns: float


class LayerLine(msgspec.Struct, frozen=True, kw_only=True):
    """The line fitted to a layer.

    ``start``: ns, from the line through the small messages; ``rate``: bytes/s, from that through
    the large ones; ``windowed``: bytes/s with many of the largest messages in flight. Null: not
    measured, or the sizes do not determine it. ``switch_bytes``: the largest size before the line
    breaks (eager to rendezvous), null without a break. ``residual``: relative root mean square of
    the medians' deviations.
    """

    start: Interval | None
    rate: Interval | None
    windowed: Interval | None = None
    switch_bytes: int | None = None
    residual: float | None = None


class Layer(msgspec.Struct, frozen=True, kw_only=True):
    """One layer as measured.

    ``how``: the measurement in words. ``proof``: proof of the path; "" if a model simulates the
    wire. ``apart``: the reason if no claim uses the layer, otherwise "". ``form``: the closed form
    that the line represents. ``waited``: share of the time that the process of the worse end waited
    for a processor, median over the points; null: unknown.
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
    """A layer that could not be measured on these hosts, with the reason."""

    name: LayerName
    title: str
    why: str


class LayerStep(msgspec.Struct, frozen=True, kw_only=True):
    """The step from one layer to the next higher layer that is compared, in one quantity.

    ``ratio``: factor by which the startup time of ``upper`` is longer, or its rate lower (1:
    equal). ``difference``: ns more for ``start``, bytes/s less for rates. The intervals of all
    steps hold simultaneously. ``p``: p-value of the hypothesis that the loss is not above the
    threshold, adjusted for all steps (Holm). ``regained``: a higher layer that is as good as
    ``lower``, so it does not have this loss.
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
    """A setting of a layer: its effect, and the command that tests whether it helps on these
    hosts.
    """

    layer: LayerName
    name: str
    does: str
    command: str


class Ladder(ExperimentResult, frozen=True, kw_only=True):
    """The output of ``wireproof ladder --json``. ``smallest``: smaller losses, as a share, count as
    none. ``attainable_bytes_per_s``: attainable goodput of the claimed link, null if no link is
    known.
    """

    schema: str = "wireproof.ladder"
    version: int = 1
    hosts: list[str]
    nic: str
    link: str
    attainable_bytes_per_s: float | None
    alpha: float
    smallest: float
    layers: list[Layer]
    missing: list[MissingLayer]
    steps: list[LayerStep]
    findings: list[Finding]
    hints: list[Hint]
    verdict: Verdict
    answer: str
