"""The layers that wireproof's engine measures: one launch for each round."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from wireproof.experiment.effects import waited_in
from wireproof.experiment.ladder import LAYERS, Collective, LayerName
from wireproof.experiment.ladder.steps import Round
from wireproof.launch.command import shell_line
from wireproof.measure.job import Prepared, prepare
from wireproof.measure.result import MeasuredPart
from wireproof.measure.session import Method, Storage
from wireproof.measure.session.launch import command_of
from wireproof.measure.session.rounds import Rounds, time_of
from wireproof.measure.specification import MeasureSpecification
from wireproof.model.errors import BadInput
from wireproof.model.experiment import PlannedArm
from wireproof.model.finding import Judgement, Proof, worst_proof
from wireproof.model.plan import ModelWorld
from wireproof.model.record import Host, PointRecord
from wireproof.options.table import Options
from wireproof.report.judged_run import results
from wireproof.report.reporter import Reporter
from wireproof.target import Target

BUDGET_S = 0.05
"""Default time of one point. It is short because the variation between rounds is larger than within
a round.
"""
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
    """Return small sizes for the start-up time and large sizes for the rate; the largest message
    takes at most 10 ms.
    """
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
        """Return the points of the pattern; for point-to-point messages also a stream of the
        largest size.
        """
        prepared = prepare(self._measured(pattern, self._wanted.sizes or _SIZES), environment)
        sizes = self._wanted.sizes or sizes_for(prepared.target.claimed_rate)
        points = tuple(point for point in prepared.points if point.message_bytes in sizes)
        if len(points) < _LEAST_SIZES:
            raise BadInput(
                f"--sizes: {pattern} needs at least {_LEAST_SIZES} sizes above 0 B to fit a line."
            )
        if pattern == _PATTERN:
            stream = prepare(self._measured(_STREAM, (max(sizes),)), environment)
            points += stream.points
        return dataclasses.replace(prepared, points=points)

    def _measured(self, pattern: str, sizes: tuple[int, ...]) -> MeasureSpecification:
        asked = dataclasses.replace(self._wanted.target, sizes=sizes)
        return MeasureSpecification.of(asked, Storage(), pattern=pattern, method=self._method)

    def run(self, number: int, seed: int, reporter: Reporter) -> Round:
        """Return the times of one round by message size. Raises ``CouldNotMeasure`` if the time of
        a size is missing.
        """
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

    def planned(self, seed: int) -> PlannedArm:
        """Return the command of the first launch."""
        command = command_of(
            self._rounds.session(0, seed, self._folder / f"{self.name}-1"), self.target
        )
        line = shell_line(command.argv, command.environment)
        return PlannedArm(title=self.title, commands=[line])

    def part(self) -> MeasuredPart:
        """Return all rounds as one judged run, so that rounds with few bytes support each other's
        proof.
        """
        if self._part is None:
            self._part = self._rounds.part(self.titled())
        return self._part

    def titled(self) -> str:
        """Return the title with the provider that was in use."""
        fabric = self.hosts[0].fabric if self.hosts else None
        return f"{self.title} {fabric.provider}" if fabric is not None else self.title

    def how(self) -> str:
        """Return the measured pattern and the library that it used."""
        hosts = self.hosts
        library = hosts[0].library.split("\n")[0][:80] if hosts and hosts[0].library else ""
        pattern = self._rounds.prepared.points[0].pattern
        what = "half round trips" if pattern == _PATTERN else f"{pattern} of two ranks"
        return f"{what} over {library or self._method.transport}"

    def waited(self) -> float | None:
        """Return the share of the time during which a process waited for a processor, or None if it
        was not counted.
        """
        return waited_in(point for one in self._rounds.sections for point in one.run.points)

    def proof(self) -> Proof:
        return path_of(self.part().section.judgement)

    @property
    def hosts(self) -> list[Host]:
        """Return the hosts on which the ranks ran, with their NICs; empty before the first
        round.
        """
        return self._rounds.sections[0].run.hosts if self._rounds.sections else []


def path_of(judgement: Judgement) -> Proof:
    """Return ``on-wire`` if every point whose path is known used the wire, including the largest
    size.
    """
    every = results(judgement)
    largest = max((point.message_bytes for point in every), default=0)
    shown = worst_proof(point.proof for point in every if point.proof != "unproven")
    whole = worst_proof(point.proof for point in every if point.message_bytes == largest)
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


# --- The specification of a ladder.


@dataclasses.dataclass(frozen=True, kw_only=True)
class ModelStep:
    """A step of the model: the additional cost of ``layer``, and of all layers above it, over the
    layer below.
    """

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
    """``layers``: if empty, all layers that can be measured here; otherwise exactly these, and a
    layer that cannot be measured is an error. ``rounds``: None to measure until every step is
    decided. ``smallest``: a smaller loss is ignored.

    The application is a ``pattern`` of wireproof or a ``command``; ``number`` finds the time (ns)
    in the output of a run for one size.
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
        """Return whether the user named the layer, so that it must be measured."""
        given = layer in self.layers or layer == "application"
        return given or (layer == "ofi" and bool(self.ofi.ofi.provider))

    @property
    def names(self) -> tuple[LayerName, ...]:
        """Return the layers to start with, from the wire up, including raw verbs if a NIC has
        them.
        """
        application: tuple[LayerName, ...] = (
            ("application",) if self.pattern or self.command else ()
        )
        chosen = self.layers or ("tcp", "ofi", "mpi", "collective")
        return tuple(layer for layer in LAYERS if layer in (*chosen, *application))


def methods_of(settings: Options) -> tuple[Method, Method]:
    """Return the methods of the MPI's layers and of libfabric's: --provider applies to the latter,
    --fabric to the former. Raises ``BadInput``.
    """
    transport = settings.transport
    if transport not in ("mpi", "model"):
        raise BadInput(
            f"{settings.source('transport')} selects one transport, but a ladder compares"
            " several: leave it out and use --layers."
        )
    ofi = dataclasses.replace(settings, transport="ofi", fabric="", model=None)
    mpi = dataclasses.replace(
        settings, provider="", libfabric="", messages="", completion="", exchange=""
    )
    return Method.from_options(mpi), Method.from_options(ofi)


def layers_of(text: str) -> tuple[LayerName, ...]:
    """Parse ``tcp,mpi`` into layers, from the wire up. Raises ``BadInput``."""
    words = [word.strip() for word in text.split(",")] if text else []
    known = ", ".join(LAYERS)
    for word in words:
        if word not in LAYERS:
            raise BadInput(f"--layers: there is no layer {word[:40]!r}; the layers are {known}.")
    if words and len(set(words)) < 2:
        raise BadInput("--layers: a step lies between two layers: give two or more.")
    return tuple(layer for layer in LAYERS if layer in words)


def model_step_of(text: str) -> ModelStep:
    """Parse ``mpi:latency_ns=11000`` (or ``gap_ns_per_byte``), a step at that layer that also
    affects all layers above. Raises ``BadInput``.
    """
    layer, _, rest = text.partition(":")
    fields = dict(field.strip().partition("=")[::2] for field in rest.split(","))
    try:
        if strange := set(fields) - {"latency_ns", "gap_ns_per_byte"}:
            raise BadInput(f"{min(strange)[:40]!r} is not a parameter")
        return msgspec.convert({"layer": layer.strip(), **fields}, ModelStep, strict=False)
    except (msgspec.ValidationError, BadInput) as error:
        raise BadInput(
            f"--model-step {text[:60]!r}: {error}; give LAYER:latency_ns=N or"
            f" LAYER:gap_ns_per_byte=N, LAYER one of {', '.join(LAYERS)}."
        ) from error
