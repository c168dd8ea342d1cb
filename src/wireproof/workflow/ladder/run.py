"""The ladder: rounds of all layers in random order, their lines, the steps between them."""

from __future__ import annotations

import dataclasses
import random
import time
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Self

from wireproof.analysis.ladder import ALPHA, Fitted, Round, enough_rounds, fitted
from wireproof.files.hostile import replace_file
from wireproof.model.errors import WireproofError
from wireproof.model.ladder import Ladder, LadderPlan, Layer, LayerName, MissingLayer
from wireproof.model.quantity import counted
from wireproof.report.json.encode import json_text
from wireproof.verdict.ladder import Rung, decided, hints_for, judge_ladder
from wireproof.workflow.ladder.commanded import raw_verbs
from wireproof.workflow.ladder.layers import AnyLayer, layers_of_hosts, rdma_device, where_of
from wireproof.workflow.ladder.specification import LadderSpecification
from wireproof.workflow.reporter import Reporter, say_round
from wireproof.workflow.result import kept
from wireproof.workflow.result_folder import result_folder

__all__ = ["LadderResult", "plan_ladder", "run_ladder"]

DOCUMENT = "ladder.json"


@dataclasses.dataclass(frozen=True, kw_only=True)
class LadderResult:
    """``folder``: where the records are kept, None when nothing is."""

    ladder: Ladder
    folder: Path | None = None


def run_ladder(
    wanted: LadderSpecification, reporter: Reporter, environment: Mapping[str, str]
) -> LadderResult:
    """Measure every layer in every round, and say at which step time or rate is lost.

    ``environment``: where an allocation is looked for. Raises ``BadInput`` before anything is
    started, ``CouldNotMeasure`` when no layer, or one that was asked for, can be measured.
    """
    with result_folder(wanted.storage, "ladder", reporter) as folder:
        course = _Course(wanted, folder, reporter, environment)
        with course:
            course.run()
        found = course.result(folder)
    if course.interrupted:
        raise KeyboardInterrupt
    return found


def plan_ladder(
    wanted: LadderSpecification, reporter: Reporter, environment: Mapping[str, str]
) -> LadderPlan:
    """What would be run, with nothing started. Raises ``BadInput``."""
    layers = layers_of_hosts(wanted, Path(), environment)
    target, seed = layers[0].target, wanted.mpi.chosen_seed()
    return LadderPlan(
        hosts=list(target.hosts),
        rounds=wanted.rounds or enough_rounds(len(layers) - 1),
        seed=seed,
        layers=[one.planned(seed) for one in layers],
        notes=list(target.said),
    )


class _Course:
    """One ladder under way; leaving it takes what perftest has needed."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def __init__(
        self,
        wanted: LadderSpecification,
        folder: Path,
        reporter: Reporter,
        environment: Mapping[str, str],
    ) -> None:
        self._wanted, self._folder, self._reporter = wanted, folder, reporter
        self._environment = environment
        self._layers = layers_of_hosts(wanted, folder, environment)
        self._target = self._layers[0].target
        self._seed = wanted.mpi.chosen_seed()
        self._times: dict[LayerName, list[Round | None]] = {one.name: [] for one in self._layers}
        self._missing: list[MissingLayer] = []
        self._rounds = wanted.rounds or enough_rounds(len(self._layers) - 1)
        self._begun = time.monotonic()
        self._stack = ExitStack()
        self.interrupted = False

    def run(self) -> None:
        for line in self._target.said:
            self._reporter.say(line)
        names = ", ".join(one.title for one in self._layers)
        self._reporter.say(f"{counted(self._rounds, 'round')} of {names}")
        try:
            for number in range(self._rounds):
                self._round(number)
                if number == 0:
                    self._look_for_verbs()
                say_round(self._reporter, number + 1, self._rounds, time.monotonic() - self._begun)
        except KeyboardInterrupt:
            done = min(map(len, self._times.values()), default=0)
            self._reporter.warn(
                f"interrupted after {done} of {counted(self._rounds, 'round')}: no answer"
            )
            if not done:
                raise
            self.interrupted, self._rounds = True, done
            self._times = {name: times[:done] for name, times in self._times.items()}

    def _round(self, number: int) -> None:
        order = list(self._layers)
        random.Random(f"{self._seed}/{number}").shuffle(order)
        failed = [(layer, why) for layer in order if (why := self._one(layer, number)) is not None]
        if len(failed) == len(order):
            raise failed[0][1]
        for layer, error in failed:
            self._failed(layer, number, error)

    def _one(self, layer: AnyLayer, number: int) -> WireproofError | None:
        """One layer of one round: the error that kept it from being measured, if any."""
        try:
            self._times[layer.name].append(layer.run(number, self._seed, self._reporter))
        except WireproofError as error:
            if number == 0 and self._wanted.asked(layer.name):
                raise
            return error
        return None

    def _look_for_verbs(self) -> None:
        """Raw verbs take the place of the kernel's sockets below all others, where the claimed NIC
        has them and perftest is here.
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
        self._times["verbs"] = []
        if (failed := self._one(layer, 0)) is not None:
            self._failed(layer, 0, failed)
        elif not wanted.layers:
            self._layers = [one for one in self._layers if one.name != "tcp"]
            self._times.pop("tcp", None)

    def _failed(self, layer: AnyLayer, number: int, error: WireproofError) -> None:
        """Missing from the first round on; later one round that does not count, and no second."""
        if number:
            if None in self._times[layer.name]:
                raise error
            self._reporter.warn(f"round {number + 1}: {error}")
            self._times[layer.name].append(None)
            return
        self._is_missing(layer.name, layer.title, error)
        self._layers.remove(layer)
        del self._times[layer.name]

    def _is_missing(self, name: LayerName, title: str, error: WireproofError) -> None:
        why = str(error).removeprefix(f"{title}: ").rstrip(".")
        self._missing.append(MissingLayer(name=name, title=title, why=why))
        self._reporter.warn(f"{title} is left out: {why}.")

    def result(self, folder: Path) -> LadderResult:
        """The answer, its records sealed."""
        ladder = self._ladder()
        parts = [part for one in self._layers if (part := one.part()) is not None]
        told = [
            part._replace(section=dataclasses.replace(part.section, lead=ladder.answer))
            for part in parts
        ]
        title = f"ladder of {', '.join(ladder.hosts) or 'a model'}"
        result = kept(
            told,
            title=title,
            folder=folder,
            storage=self._wanted.storage,
            reporter=self._reporter,
        )
        if self._wanted.storage.kept:
            replace_file(folder / DOCUMENT, json_text(ladder).encode() + b"\n")
        return LadderResult(ladder=ladder, folder=result.folder)

    def _ladder(self) -> Ladder:
        wanted = self._wanted
        lines = {one.name: fitted(self._times[one.name]) for one in self._layers}
        layers = [self._layer(one, lines[one.name]) for one in self._layers]
        rungs = [Rung(one.name, lines[one.name]) for one in layers if not one.apart]
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
            rounds=self._rounds,
            seed=self._seed,
            alpha=ALPHA,
            smallest=wanted.smallest,
            layers=layers,
            missing=self._missing,
            steps=judged.steps,
            findings=judged.findings,
            hints=hints_for(
                judged.steps, {one.name: one.title for one in layers}, where_of(self._target)
            ),
            verdict=judged.verdict,
            answer=judged.answer,
            seconds=time.monotonic() - self._begun,
            notes=list(self._target.said),
        )

    def _attainable(self) -> float | None:
        """What physics leaves of the link, claimed or as the ports state it, for large messages;
        bytes/s.
        """
        parts = [part for one in self._layers if (part := one.part()) is not None]
        found = parts[0].section.limits if parts and not self._wanted.mpi.plays_hosts else None
        return found.attainable_bytes_per_s if found is not None else None

    def _layer(self, layer: AnyLayer, lines: Fitted) -> Layer:
        played = self._wanted.mpi.plays_hosts
        proof = layer.proof()
        apart = "" if played or proof == "on-wire" else f"its path is {proof}"
        return Layer(
            name=layer.name,
            title=layer.titled(),
            how=layer.how(),
            form="t(s) = o + s/R",
            proof="" if played else proof,
            line=lines.line,
            times=list(lines.times),
            rounds=sum(one is not None for one in self._times[layer.name]),
            waited=None if played else layer.waited(),
            apart=apart,
        )
