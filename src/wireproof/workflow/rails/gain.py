"""The gain of several rails: rounds of each rail alone and of all, in random order."""

from __future__ import annotations

import dataclasses
import random
import time
from collections.abc import Mapping
from pathlib import Path

from wireproof.analysis.rail_gain import gain_of, goodput_of
from wireproof.files.hostile import replace_file
from wireproof.model.errors import BadInput
from wireproof.model.pattern import crossings
from wireproof.model.quantity import counted
from wireproof.model.rail_gain import GainRow, RailGain, RailNumber
from wireproof.model.rails import is_several, rails_of
from wireproof.physics.limits import limits
from wireproof.physics.rails import one_rail
from wireproof.plan.pace import affordable
from wireproof.plan.sweep import sweep
from wireproof.report.json.encode import json_text
from wireproof.report.section import Section
from wireproof.verdict.rail_gain import judge_gain
from wireproof.verdict.run.plateau import fills_link
from wireproof.workflow.measure import Prepared, prepare
from wireproof.workflow.rails.course import Key, Way, proof_of, verdicts_of
from wireproof.workflow.reporter import Reporter, say_round
from wireproof.workflow.result import kept
from wireproof.workflow.result_folder import result_folder
from wireproof.workflow.specification import MeasureSpecification

__all__ = ["GainResult", "measure_gain"]

DOCUMENT = "rails.json"
BUDGET_S = 0.3
"""Time of one point, unless another is asked for: rounds differ more than what is in one."""
SIZES = (65536, 1 << 20)
ROUNDS = 5


@dataclasses.dataclass(frozen=True, kw_only=True)
class GainResult:
    """``folder``: where the records are kept, None when nothing is."""

    gain: RailGain
    folder: Path | None = None


def measure_gain(
    wanted: MeasureSpecification,
    reporter: Reporter,
    environment: Mapping[str, str],
    *,
    rounds: int | None = None,
) -> GainResult:
    """Measure the pattern over each rail alone and over all of them, and say what they gain.

    Beside a one-way pattern half round trips of the same sizes are measured: these wait for each
    message. Raises ``BadInput`` before anything is started, ``CouldNotMeasure`` when a way over the
    rails gives no number.
    """
    course = _Course(wanted, reporter, environment, rounds or ROUNDS)
    with result_folder(wanted.storage, "rails", reporter) as folder:
        course.run(folder)
        return course.result(folder)


class _Course:
    """One measurement of a gain under way."""

    def __init__(
        self,
        wanted: MeasureSpecification,
        reporter: Reporter,
        environment: Mapping[str, str],
        rounds: int,
    ) -> None:
        self._wanted, self._reporter, self._rounds = _checked(wanted), reporter, rounds
        self._seed = wanted.method.chosen_seed()
        self._method = dataclasses.replace(
            wanted.method, budget_s=wanted.method.budget_s or BUDGET_S, repeat=1
        )
        self._together = self._prepared(environment)
        self._rails = rails_of(self._together.target.nics[0])
        self._ways = [
            *(self._alone(number, environment) for number in range(len(self._rails))),
            self._way("", self._together),
        ]
        for way in self._ways:
            way.check(self._seed)
        self._begun = time.monotonic()

    def _prepared(self, environment: Mapping[str, str]) -> Prepared:
        method = self._method
        sizes = self._wanted.sizes
        found = prepare(dataclasses.replace(self._wanted, method=method), environment)
        target = found.target
        if not target.hosts or not target.nics or not is_several(target.nics[0]):
            raise BadInput("--gain compares rails: give --hosts and --nic hsn0,hsn1.")
        if not sizes:
            chosen = affordable(SIZES, target.claimed_rate)
            points = tuple(one for one in found.points if one.message_bytes in chosen)
            found = dataclasses.replace(found, points=points)
        return self._with_waiting(found)

    def _with_waiting(self, found: Prepared) -> Prepared:
        """With half round trips of the same sizes beside one-way messages."""
        first = found.points[0]
        if crossings(first.pattern, first.form) > 0:
            return found
        sizes = sorted({one.message_bytes for one in found.points})
        waiting = sweep("pingpong", sizes, [(0, 1)])
        return dataclasses.replace(found, points=(*found.points, *waiting))

    def _alone(self, number: int, environment: Mapping[str, str]) -> Way:
        rail, link = self._rails[number], self._wanted.target.link
        where = dataclasses.replace(
            self._wanted.target, nic=rail, link=one_rail(link, number) if link else None
        )
        wanted = dataclasses.replace(self._wanted, target=where, method=self._method)
        # in nothing but the rails must the launches differ
        return self._way(
            rail,
            dataclasses.replace(self._together, target=prepare(wanted, environment).target),
        )

    def _way(self, rail: str, prepared: Prepared) -> Way:
        title = f"{rail} alone" if rail else f"{' and '.join(self._rails)} together"
        return Way(rail, title, prepared, self._method, self._wanted.storage)

    def run(self, folder: Path) -> None:
        for line in self._together.target.said:
            self._reporter.say(line)
        names = "; ".join(way.title for way in self._ways)
        self._reporter.say(f"{counted(self._rounds, 'round')} of {names}")
        for number in range(self._rounds):
            order = list(enumerate(self._ways))
            random.Random(f"{self._seed}/{number}").shuffle(order)
            for place, way in order:
                name = f"rail{place + 1}" if way.rail else "together"
                way.run(number, self._seed, folder / f"{name}-{number + 1}", self._reporter)
            say_round(self._reporter, number + 1, self._rounds, time.monotonic() - self._begun)

    def result(self, folder: Path) -> GainResult:
        """The answer, its records sealed."""
        parts = [way.part() for way in self._ways]
        sections = [part.section for part in parts]
        gain = self._gain(sections)
        result = kept(
            [
                part._replace(section=dataclasses.replace(part.section, lead=gain.answer))
                for part in parts
            ],
            title=f"rails {', '.join(self._rails)} of {', '.join(gain.hosts)}",
            folder=folder,
            storage=self._wanted.storage,
            reporter=self._reporter,
        )
        if self._wanted.storage.kept:
            replace_file(folder / DOCUMENT, json_text(gain).encode() + b"\n")
        return GainResult(gain=gain, folder=result.folder)

    def _gain(self, sections: list[Section]) -> RailGain:
        times = [way.times() for way in self._ways]
        keys = [key for key in times[-1] if all(key in one for one in times)]
        rows = [self._row(key, [one[key] for one in times], sections) for key in sorted(keys)]
        judged = judge_gain(rows, sections[-1].criteria)
        target = self._together.target
        return RailGain(
            verdict=judged.verdict,
            answer=judged.answer,
            hosts=list(dict.fromkeys(target.hosts)),
            rails=list(self._rails),
            link=target.link.name if target.link is not None else "",
            rounds=self._rounds,
            seed=self._seed,
            rows=rows,
            findings=judged.findings,
            told=self._ways[-1].told(),
            seconds=time.monotonic() - self._begun,
            notes=list(target.said),
        )

    def _row(self, key: Key, times: list[list[list[float]]], sections: list[Section]) -> GainRow:
        pattern, size, origin, target = key
        numbers = [
            RailNumber(
                rail=way.rail,
                goodput=goodput_of(size, own),
                limit=self._limit(way, size),
                proof=proof_of(verdicts_of(section, key)),
            )
            for way, own, section in zip(self._ways, times, sections, strict=True)
        ]
        gain, of_sum = gain_of(size, times[:-1], times[-1])
        together = verdicts_of(sections[-1], key)
        form = together[0].form if together else ""
        hosts = self._together.target.hosts
        whole = numbers[-1].limit
        one_way = crossings(pattern, form) == 0
        return GainRow(
            pattern=pattern,
            form=form,
            message_bytes=size,
            origin=hosts[origin],
            target=hosts[target],
            alone=numbers[:-1],
            together=numbers[-1],
            gain=gain,
            of_sum=of_sum,
            of_limits=numbers[-1].goodput.value / whole if whole else None,
            striping=together[0].striping if together else "",
            expected=one_way and fills_link(self._together.target.link, size),
        )

    def _limit(self, way: Way, size: int) -> float | None:
        link = way.prepared.target.link
        if link is None:
            return None
        return limits(
            link, "stream", "stream", size, self._wanted.method.table
        ).attainable_bytes_per_s


def _checked(wanted: MeasureSpecification) -> MeasureSpecification:
    """Raise ``BadInput`` for what cannot be compared; with sizes that a gain is looked for at."""
    method = wanted.method
    if method.nic_selection == "none":
        raise BadInput("--gain chooses the rails of each launch: leave --nic-selection none out.")
    if method.plays_hosts or method.transport in ("null", "model"):
        raise BadInput("--gain needs hosts with rails: the model and null transports have none.")
    if wanted.storage.resume:
        raise BadInput("--gain cannot be resumed: its rounds belong together.")
    if not wanted.sizes:
        return dataclasses.replace(wanted, sizes=SIZES)
    if max(wanted.sizes) == 0:
        raise BadInput("--gain compares goodput: give a size above 0 B.")
    return dataclasses.replace(wanted, sizes=tuple(size for size in wanted.sizes if size))
