"""The layers that our own engine measures: one launch of it for each round."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median

import msgspec

from wireproof.launch.program import shell_line
from wireproof.model.errors import BadInput
from wireproof.model.finding import Judgement, Proof, worst_proof
from wireproof.model.ladder import LAYERS, Collective, LayerName, PlannedLayer
from wireproof.model.plan import ModelWorld
from wireproof.model.record import Host, PointRecord
from wireproof.report.judged_run import results
from wireproof.settings.options import Options
from wireproof.verdict.ladder.steps import Round
from wireproof.verdict.run.quality import waited_share
from wireproof.workflow.measure import Prepared, prepare
from wireproof.workflow.reporter import Reporter
from wireproof.workflow.result import MeasuredPart
from wireproof.workflow.session.launch import command_of
from wireproof.workflow.session.rounds import Rounds, time_of
from wireproof.workflow.session.session import Method, Storage
from wireproof.workflow.specification import MeasureSpecification
from wireproof.workflow.target.target import Target

BUDGET_S = 0.05
"""Time of one point, unless another is asked for: rounds differ more than what is in one."""
_SIZES = (8, 64, 512, 4096, 16384, 65536, 262144, 1 << 20, 4 << 20)
_LONGEST_NS = 1e7
_UNKNOWN_RATE = 1e9
_PATTERN, _STREAM = "pingpong", "stream"
_LEAST_SIZES = 3
_NS_PER_S = 1e9
_TITLES: Mapping[LayerName, str] = {
    "tcp": "kernel TCP",
    "ofi": "libfabric",
    "mpi": "MPI point to point",
}


def sizes_for(rate_bits_per_s: float | None) -> tuple[int, ...]:
    """Small ones for the start, large ones for the rate; a message takes 10 ms at most."""
    byte_ns = 8e9 / (rate_bits_per_s or _UNKNOWN_RATE)
    return tuple(size for size in _SIZES if size <= 65536 or size * byte_ns <= _LONGEST_NS)


class LaunchedLayer:
    """One layer: kernel sockets, libfabric, or an MPI's point-to-point or collective calls."""

    def __init__(
        self,
        name: LayerName,
        wanted: LadderSpecification,
        folder: Path,
        environment: Mapping[str, str],
    ) -> None:
        self.name: LayerName = name
        self._wanted, self._folder = wanted, folder
        pattern = {"collective": wanted.collective, "application": wanted.pattern}.get(name)
        self.title = _TITLES.get(name) or f"MPI {pattern}"
        self._method = _method(name, wanted)
        prepared = self._prepare(pattern or _PATTERN, environment)
        self._rounds = Rounds(self.title, prepared, self._method, wanted.storage)
        self._part: MeasuredPart | None = None

    @property
    def target(self) -> Target:
        return self._rounds.prepared.target

    def _prepare(self, pattern: str, environment: Mapping[str, str]) -> Prepared:
        """The sizes of the pattern; of messages between two also a window full of the largest."""
        found = prepare(self._measured(pattern, self._wanted.sizes or _SIZES), environment)
        sizes = self._wanted.sizes or sizes_for(found.target.claimed_rate)
        points = tuple(one for one in found.points if one.message_bytes in sizes)
        if len(points) < _LEAST_SIZES:
            raise BadInput(f"--sizes: a line needs {_LEAST_SIZES} sizes above 0 B of {pattern}.")
        if pattern == _PATTERN:
            stream = prepare(self._measured(_STREAM, (max(sizes),)), environment)
            points += stream.points
        return dataclasses.replace(found, points=points)

    def _measured(self, pattern: str, sizes: tuple[int, ...]) -> MeasureSpecification:
        asked = dataclasses.replace(self._wanted.target, sizes=sizes)
        return MeasureSpecification.of(asked, Storage(), pattern=pattern, method=self._method)

    def run(self, number: int, seed: int, reporter: Reporter) -> Round:
        """Times by size of one round. Raises ``CouldNotMeasure`` when a size has none."""
        folder = self._folder / f"{self.name}-{number + 1}"
        points = self._rounds.run(number, seed, folder, reporter).run.points
        times = [(point, time_ns) for point in points if (time_ns := time_of(point)) is not None]
        windowed = [
            _NS_PER_S * point.message_bytes / time_ns for point, time_ns in times if _streams(point)
        ]
        return Round(
            {point.message_bytes: time_ns for point, time_ns in times if not _streams(point)},
            max(windowed, default=None),
        )

    def planned(self, seed: int) -> PlannedLayer:
        """The command of its first launch."""
        command = command_of(
            self._rounds.session(0, seed, self._folder / f"{self.name}-1"), self.target
        )
        line = shell_line(command.argv, command.environment)
        return PlannedLayer(name=self.name, title=self.title, commands=[line])

    def part(self) -> MeasuredPart:
        """All rounds as one judged run, in which those of few bytes help each other's proof."""
        if self._part is None:
            self._part = self._rounds.part(self.titled())
        return self._part

    def titled(self) -> str:
        """With the provider that answered."""
        fabric = self.hosts[0].fabric if self.hosts else None
        return f"{self.title} {fabric.provider}" if fabric is not None else self.title

    def how(self) -> str:
        """What was measured, over which library."""
        hosts = self.hosts
        library = hosts[0].library.split("\n")[0][:80] if hosts and hosts[0].library else ""
        pattern = self._rounds.prepared.points[0].pattern
        what = "half round trips" if pattern == _PATTERN else f"{pattern} of two ranks"
        return f"{what} over {library or self._method.transport}"

    def waited(self) -> float | None:
        """Share of the time that a process waited for a processor; None where it is not counted."""
        points = [point for section in self._rounds.sections for point in section.run.points]
        shares = [waited_share(pair) for point in points for pair in point.pairs]
        return median(shares) if shares else None

    def proof(self) -> Proof:
        return path_of(self.part().section.judgement)

    @property
    def hosts(self) -> list[Host]:
        """Where the ranks ran, and with which NICs; none before the first round."""
        return self._rounds.sections[0].run.hosts if self._rounds.sections else []


def path_of(judgement: Judgement) -> Proof:
    """``on-wire`` when every point that shows a path shows that one, and the largest size does."""
    every = results(judgement)
    largest = max((one.message_bytes for one in every), default=0)
    shown = worst_proof(one.proof for one in every if one.proof != "unproven")
    whole = worst_proof(one.proof for one in every if one.message_bytes == largest)
    return whole if shown == "on-wire" else shown


def _method(name: LayerName, wanted: LadderSpecification) -> Method:
    method = wanted.ofi if name == "ofi" else wanted.mpi
    if wanted.mpi.transport == "model":
        world = wanted.mpi.model
        for step in wanted.model_steps:
            if LAYERS.index(name) >= LAYERS.index(step.layer):
                world = step.put_on(world)
        method = dataclasses.replace(wanted.mpi, model=world)
    elif name == "tcp":
        method = dataclasses.replace(wanted.mpi, transport="tcp", mpi="", fabric="")
    return dataclasses.replace(method, budget_s=method.budget_s or BUDGET_S, repeat=1)


def _streams(point: PointRecord) -> bool:
    return point.pattern == _STREAM


# --- What a ladder is asked for.


@dataclasses.dataclass(frozen=True, kw_only=True)
class ModelStep:
    """In the model: what ``layer`` and all above it have more than the layer below."""

    layer: LayerName
    latency_ns: float = 0.0
    gap_ns_per_byte: float = 0.0

    def put_on(self, world: ModelWorld) -> ModelWorld:
        return msgspec.structs.replace(
            world,
            latency_ns=world.latency_ns + self.latency_ns,
            gap_ns_per_byte=world.gap_ns_per_byte + self.gap_ns_per_byte,
        )


@dataclasses.dataclass(frozen=True, kw_only=True)
class LadderSpecification:
    """``layers`` empty: all that can be measured here; else these, and one that cannot is an error.
    ``rounds`` None: as many as it takes to decide all steps. ``smallest``: a smaller loss is none.

    The application is a ``pattern`` of our own, or a ``command``; ``number``: where each run of it
    is for one size, the time (ns) in its output.
    """

    target: Options
    mpi: Method
    ofi: Method
    storage: Storage = dataclasses.field(default_factory=Storage)
    layers: tuple[LayerName, ...] = ()
    rounds: int | None = None
    sizes: tuple[int, ...] = ()
    smallest: float = 0.25
    collective: Collective = "allreduce"
    model_steps: tuple[ModelStep, ...] = ()
    pattern: str = ""
    command: tuple[str, ...] = ()
    number: Callable[[str], float | None] | None = None

    def asked(self, layer: LayerName) -> bool:
        """The user named it, so that it must be there."""
        given = layer in self.layers or layer == "application"
        return given or (layer == "ofi" and bool(self.ofi.ofi.provider))

    @property
    def names(self) -> tuple[LayerName, ...]:
        """The layers to begin with, from the wire up; raw verbs join when a NIC has them."""
        own: tuple[LayerName, ...] = ("application",) if self.pattern or self.command else ()
        chosen = self.layers or ("tcp", "ofi", "mpi", "collective")
        return tuple(one for one in LAYERS if one in (*chosen, *own))


def methods_of(settings: Options) -> tuple[Method, Method]:
    """The means of the MPI's layers and of libfabric's: --provider is for the one, --fabric for the
    others. Raises ``BadInput``.
    """
    transport = settings.transport
    if transport not in ("mpi", "model"):
        raise BadInput(
            f"{settings.source('transport')} chooses one transport, and a ladder compares several:"
            " leave it out, and choose with --layers."
        )
    ofi = dataclasses.replace(settings, transport="ofi", fabric="")
    mpi = dataclasses.replace(
        settings, provider="", libfabric="", messages="", completion="", exchange=""
    )
    return Method.from_options(mpi), Method.from_options(ofi)


def layers_of(text: str) -> tuple[LayerName, ...]:
    """``tcp,mpi`` as layers, from the wire up. Raises ``BadInput``."""
    words = [one.strip() for one in text.split(",")] if text else []
    known = ", ".join(LAYERS)
    for word in words:
        if word not in LAYERS:
            raise BadInput(f"--layers: there is no layer {word[:40]!r}; there are {known}.")
    if words and len(set(words)) < 2:
        raise BadInput("--layers: a step is between two layers: name two or more.")
    return tuple(one for one in LAYERS if one in words)


def model_step_of(text: str) -> ModelStep:
    """``mpi:latency_ns=11000`` (or ``gap_ns_per_byte``): that layer and those above. Raises
    ``BadInput``.
    """
    layer, _, rest = text.partition(":")
    fields = dict(one.strip().partition("=")[::2] for one in rest.split(","))
    try:
        if strange := set(fields) - {"latency_ns", "gap_ns_per_byte"}:
            raise BadInput(f"there is no {min(strange)[:40]!r}")
        return msgspec.convert({"layer": layer.strip(), **fields}, ModelStep, strict=False)
    except (msgspec.ValidationError, BadInput) as error:
        raise BadInput(
            f"--model-step {text[:60]!r}: {error}; give LAYER:latency_ns=N or"
            f" LAYER:gap_ns_per_byte=N, LAYER one of {', '.join(LAYERS)}."
        ) from error
