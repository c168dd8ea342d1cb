"""``wireproof ladder``: find the layer between the wire and the job at which time or rate is
lost.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from wireproof.experiment import (
    ALPHA,
    Bench,
    Design,
    Experiment,
    Stopped,
    TrialPlace,
    carry_out,
)
from wireproof.experiment.kept import Keeper
from wireproof.experiment.ladder import LAYERS, Ladder, Layer, LayerName, MissingLayer
from wireproof.experiment.ladder.commanded import LONGEST_S, CommandedLayer, application, raw_verbs
from wireproof.experiment.ladder.launched import (
    LadderSpecification,
    LaunchedLayer,
    ModelStep,
    methods_of,
)
from wireproof.experiment.ladder.steps import BegunLadder, Round, enough_rounds, fitted
from wireproof.experiment.ladder.verdict import Rung, decided, hints_for, judge_ladder
from wireproof.ledger.relations import port_called
from wireproof.measure.resume import result_folder
from wireproof.measure.session.rounds import sealed
from wireproof.model.errors import BadInput, CouldNotMeasure, WireproofError
from wireproof.model.experiment import ExperimentPlan
from wireproof.model.finding import Proof
from wireproof.model.quantity import counted
from wireproof.model.record import Host, Nic
from wireproof.report.reporter import Reporter, say_all
from wireproof.target import Target

__all__ = [
    "LadderSpecification",
    "ModelStep",
    "methods_of",
    "plan_ladder",
    "run_ladder",
]


DOCUMENT = "ladder.json"
KeptLadder = tuple[Ladder, Path | None]
"""A ladder, and the folder of its records, or None if they are not kept."""


def run_ladder(
    wanted: LadderSpecification, reporter: Reporter, environment: Mapping[str, str]
) -> KeptLadder:
    """Measure every layer in every round, and report the step at which time or rate is lost.

    ``environment``: variables that may describe an allocation. Raises ``BadInput`` before anything
    is started, and ``CouldNotMeasure`` if no layer, or a requested layer, cannot be measured.
    """
    with result_folder(wanted.storage, "ladder", reporter) as folder, ExitStack() as stack:
        kept, stopped = _Ladder(wanted, folder, reporter, environment, stack).measure()
    if stopped == "interrupted":
        raise KeyboardInterrupt
    return kept


def plan_ladder(
    wanted: LadderSpecification, reporter: Reporter, environment: Mapping[str, str]
) -> ExperimentPlan:
    """Return the commands that would run, without starting anything. Raises ``BadInput``."""
    layers = layers_of_hosts(wanted, Path(), environment)
    target, seed = layers[0].target, wanted.mpi.chosen_seed()
    return ExperimentPlan(
        hosts=list(target.hosts),
        rounds=wanted.rounds or enough_rounds(len(layers) - 1),
        seed=seed,
        arms=[layer.planned(seed) for layer in layers],
        notes=list(target.notes),
    )


class _Ladder(Bench[Round]):
    """The layers of one ladder; an arm is a layer's index in ``LAYERS``.

    ``stack``: keeps the resources that perftest needs until the ladder ends.
    """

    def __init__(
        self,
        wanted: LadderSpecification,
        folder: Path,
        reporter: Reporter,
        environment: Mapping[str, str],
        stack: ExitStack,
    ) -> None:
        self._wanted, self._folder, self._reporter = wanted, folder, reporter
        self._environment, self._stack = environment, stack
        self._layers = layers_of_hosts(wanted, folder, environment)
        self._target = self._layers[0].target
        self._seed = wanted.mpi.chosen_seed()
        self._times: dict[LayerName, dict[int, Round]] = {}
        self._missing: list[MissingLayer] = []
        self._failed: list[tuple[int, AnyLayer, WireproofError]] = []
        self._poorer: set[LayerName] = set()
        self._earlier: dict[LayerName, dict[int, tuple[Round, Proof]]] = {}

    def measure(self) -> tuple[KeptLadder, Stopped]:
        """Measure all rounds, or those before an interruption, and return the answer."""
        say_all(self._target.notes, self._reporter)
        names = ", ".join(layer.title for layer in self._layers)
        rounds = self._wanted.rounds or enough_rounds(len(self._layers) - 1)
        self._reporter.say(f"{counted(rounds, 'round')} of {names}")
        keeper = Keeper(self._folder if self._wanted.storage.kept else None, BegunLadder)
        asked = {
            "the layers": names,
            "the rounds": str(rounds),
            "the hosts": ",".join(self._target.hosts),
            "the command": " ".join(self._wanted.command),
        }
        begun = keeper.begun(asked)
        if begun is not None:
            self._seed, self._earlier = begun.seed, begun.commanded
            self._take_up()
        design = self._with_layers(Design(arms=(), seed=str(self._seed), rounds=rounds))
        seconds = begun.seconds if begun is not None else 0.0
        experiment: Experiment[Round] = Experiment(design=design, seconds=seconds)

        def keep(so_far: Experiment[Round]) -> None:
            keeper.keep(self._begun(asked, so_far))

        keep(experiment)
        carry_out(experiment, self, self._reporter.say, time.monotonic, keep)
        if experiment.stopped == "interrupted":
            done = f"{experiment.rounds} of {counted(rounds, 'round')}"
            self._reporter.warn(f"interrupted after {done}: no answer")
            if not experiment.rounds:
                raise KeyboardInterrupt
        return self._result(experiment), experiment.stopped

    def _begun(self, asked: dict[str, str], experiment: Experiment[Round]) -> BegunLadder:
        fresh = {
            layer.name: layer.rounds for layer in self._layers if isinstance(layer, CommandedLayer)
        }
        return BegunLadder(
            asked=asked,
            seed=self._seed,
            rounds=experiment.rounds,
            seconds=experiment.seconds,
            commanded={**self._earlier, **fresh},
        )

    def _take_up(self) -> None:
        """Give the layers of other programs their rounds from before an interruption."""
        for layer in self._layers:
            if isinstance(layer, CommandedLayer):
                layer.rounds = dict(self._earlier.get(layer.name, {}))

    def _with_layers(self, design: Design) -> Design:
        arms = tuple(LAYERS.index(layer.name) for layer in self._layers)
        return dataclasses.replace(design, arms=arms)

    def run(self, place: TrialPlace) -> Round:
        layer = self._layer_of(place)
        measured = layer.run(place.round_, self._seed, self._reporter)
        self._times.setdefault(layer.name, {})[place.round_] = measured
        return measured

    def _layer_of(self, place: TrialPlace) -> AnyLayer:
        return next(layer for layer in self._layers if layer.name == LAYERS[place.arm])

    def failed(self, place: TrialPlace, error: WireproofError) -> None:
        layer = self._layer_of(place)
        if place.round_ == 0 and self._wanted.asked(layer.name):
            raise error
        self._failed.append((place.round_, layer, error))

    def after(self, experiment: Experiment[Round]) -> Design:
        """Leave out layers that cannot be measured; add raw verbs if the NIC supports them."""
        if len(self._failed) == len(self._layers):
            raise self._failed[0][2]
        self._leave_out()
        if experiment.rounds == 0:
            self._look_for_verbs()
        return self._with_layers(experiment.design)

    def _leave_out(self) -> None:
        """Drop a layer that fails in the first round; in later rounds a layer may fail once."""
        for number, layer, error in self._failed:
            if number == 0:
                self._is_missing(layer.name, layer.title, error)
                self._layers.remove(layer)
                continue
            if layer.name in self._poorer:
                raise error
            self._poorer.add(layer.name)
            self._reporter.warn(f"round {number + 1}: {error}")
        self._failed = []

    def _look_for_verbs(self) -> None:
        """Replace the kernel's sockets at the bottom by raw verbs, if the claimed NIC supports
        verbs and perftest is installed.
        """
        wanted = self._wanted
        if wanted.mpi.plays_hosts or (wanted.layers and "verbs" not in wanted.layers):
            return
        try:
            layer = raw_verbs(
                self._target,
                rdma_device(self._layers, self._target),
                wanted.sizes,
                environment=self._environment,
                folder=self._folder if wanted.storage.kept else None,
                stack=self._stack,
            )
        except WireproofError as error:
            if wanted.asked("verbs"):
                raise
            self._is_missing("verbs", "raw verbs", error)
            return
        self._layers.insert(0, layer)
        layer.rounds = dict(self._earlier.get("verbs", {}))
        verbs = TrialPlace(0, 0, LAYERS.index("verbs"))
        try:
            self.run(verbs)
        except WireproofError as error:
            self.failed(verbs, error)
            self._leave_out()
        else:
            if not wanted.layers:
                self._layers = [layer for layer in self._layers if layer.name != "tcp"]

    def _is_missing(self, name: LayerName, title: str, error: WireproofError) -> None:
        why = str(error).removeprefix(f"{title}: ").rstrip(".")
        self._missing.append(MissingLayer(name=name, title=title, why=why))
        self._reporter.warn(f"{title} is left out: {why}.")

    def _result(self, experiment: Experiment[Round]) -> KeptLadder:
        """Return the answer and seal its records."""
        ladder = self._ladder(experiment)
        parts = [part for layer in self._layers if (part := layer.part()) is not None]
        place = sealed(
            parts,
            ladder,
            answer=ladder.answer,
            title=f"ladder of {', '.join(ladder.hosts) or 'a model'}",
            place=self._folder / DOCUMENT,
            storage=self._wanted.storage,
            reporter=self._reporter,
        )
        return ladder, place

    def _measured(self, rounds: int) -> tuple[list[Layer], list[Rung]]:
        """Return every layer, and the fitted lines of the layers with a proven path."""
        layers: list[Layer] = []
        rungs: list[Rung] = []
        for layer in self._layers:
            times = [self._times[layer.name].get(number) for number in range(rounds)]
            rung = fitted(layer.name, times)
            layers.append(self._layer(layer, rung, rounds - times.count(None)))
            if not layers[-1].apart:
                rungs.append(rung)
        return layers, rungs

    def _ladder(self, experiment: Experiment[Round]) -> Ladder:
        wanted = self._wanted
        layers, rungs = self._measured(experiment.rounds)
        steps = decided(rungs, wanted.smallest)
        attainable = self._attainable()
        judged = judge_ladder(
            layers,
            self._missing,
            steps,
            smallest=wanted.smallest,
            attainable_bytes_per_s=attainable,
        )
        link = self._target.link
        return Ladder(
            hosts=list(self._target.hosts),
            nic=self._target.nics[0] if self._target.nics else "",
            link=link.name if link is not None else "",
            attainable_bytes_per_s=attainable,
            rounds=experiment.rounds,
            seed=self._seed,
            alpha=ALPHA,
            smallest=wanted.smallest,
            layers=layers,
            missing=self._missing,
            steps=judged.steps,
            findings=judged.findings,
            hints=hints_for(
                judged.steps, {layer.name: layer.title for layer in layers}, where_of(self._target)
            ),
            verdict=judged.verdict,
            answer=judged.answer,
            seconds=experiment.seconds,
            notes=list(self._target.notes),
        )

    def _attainable(self) -> float | None:
        """Return the goodput in bytes/s that the link allows for large messages; the link is the
        claimed link or else the link that the ports report.
        """
        parts = [part for layer in self._layers if (part := layer.part()) is not None]
        limits = parts[0].section.limits if parts and not self._wanted.mpi.plays_hosts else None
        return limits.attainable_bytes_per_s if limits is not None else None

    def _layer(self, layer: AnyLayer, rung: Rung, rounds: int) -> Layer:
        played = self._wanted.mpi.plays_hosts
        proof = layer.proof()
        apart = "" if played or proof == "on-wire" else f"its path is {proof}"
        return Layer(
            name=layer.name,
            title=layer.titled(),
            how=layer.how(),
            form="t(s) = o + s/R",
            proof="" if played else proof,
            line=rung.line,
            times=list(rung.times),
            rounds=rounds,
            waited=None if played else layer.waited(),
            apart=apart,
        )


# --- The layers between the hosts.

AnyLayer = LaunchedLayer | CommandedLayer


def layers_of_hosts(
    wanted: LadderSpecification, folder: Path, environment: Mapping[str, str]
) -> list[AnyLayer]:
    """Return the layers from the wire up, without starting anything. Raises ``BadInput``."""
    if "application" in wanted.names and not (wanted.pattern or wanted.command):
        raise BadInput("--layers: give the application as --pattern or as a command after --.")
    others = ("verbs", "application") if wanted.command else ("verbs",)
    launched = [name for name in wanted.names if name not in others]
    layers: list[AnyLayer] = [LaunchedLayer(name, wanted, folder, environment) for name in launched]
    if not layers:
        raise BadInput(
            "--layers: besides verbs and a command, name a layer that wireproof measures: tcp, mpi."
        )
    target = layers[0].target
    check_hosts(target, played=wanted.mpi.plays_hosts)
    if wanted.command:
        if wanted.mpi.plays_hosts:
            raise BadInput("a command cannot run in the model: leave out the command or the model.")
        command = application(
            wanted.command,
            target,
            sizes=wanted.sizes,
            number=wanted.number,
            environment=environment,
            folder=folder if wanted.storage.kept else None,
            longest_s=wanted.mpi.deadline_s or LONGEST_S,
        )
        layers.append(command)
    return layers


def check_hosts(target: Target, *, played: bool) -> None:
    """Raise ``BadInput`` unless there are two hosts; the options ensure that they differ."""
    if not target.hosts and played:
        return
    count = len(target.hosts)
    if count != 2:
        given = f"{count} were given" if count else "no host was given"
        raise BadInput(f"a ladder measures between two hosts, but {given}: give --hosts A,B.")


def where_of(target: Target) -> str:
    """Return the options that select the same hosts again."""
    lab = [f"--lab {target.lab.name}"] if target.lab is not None else []
    nic = [f"--nic {target.nics[0]}"] if target.nics and target.nics[0] else []
    return " ".join([*lab, f"--hosts {','.join(target.hosts) or 'A,B'}", *nic])


def rdma_device(layers: Sequence[AnyLayer], target: Target) -> tuple[str, str]:
    """Return the RDMA device of the claimed NIC, which must have the same name on both hosts, and
    the second host's address on it ("" if it has none). Raises ``CouldNotMeasure`` if there is
    none.
    """
    claimed = target.nics[0] if target.nics else ""
    hosts = next(
        (layer.hosts for layer in layers if isinstance(layer, LaunchedLayer) and layer.hosts), []
    )
    nics = [nic for host in hosts if (nic := _claimed(host, claimed)) is not None]
    if not nics or len(nics) < len(hosts):
        named = claimed or "the first active port"
        raise CouldNotMeasure(f"raw verbs: {named} is not an RDMA device on both hosts.")
    devices = {nic.rdma.device for nic in nics if nic.rdma is not None}
    if len(devices) > 1:
        names = ", ".join(sorted(devices))
        raise CouldNotMeasure(
            f"raw verbs: the hosts' RDMA devices have different names ({names}), but perftest"
            " takes one name: leave verbs out with --layers."
        )
    addresses = [address.partition("/")[0] for address in nics[-1].address]
    return min(devices), next(iter(addresses), "")


def _claimed(host: Host, name: str) -> Nic | None:
    """Return the claimed NIC of a host if it is an RDMA device; without a claim, the first active
    device.
    """
    if name:
        nic = port_called(host.nics, name)
        return nic if nic is not None and nic.rdma is not None else None
    devices = ((port, port.rdma) for port in host.nics)
    return next((port for port, rdma in devices if rdma and "ACTIVE" in rdma.state.upper()), None)
