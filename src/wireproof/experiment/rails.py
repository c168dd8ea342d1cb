"""Measure the gain of several rails in rounds: each rail alone and all together, in random
order.
"""

import dataclasses
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from wireproof.experiment import Bench, Design, Experiment, TrialPlace, carry_out
from wireproof.experiment.effects import waited_in
from wireproof.experiment.kept import Keeper, planned_arm
from wireproof.experiment.rails_verdict import gain_of, goodput_of, judge_gain
from wireproof.launch.mpi.rails import told_in
from wireproof.ledger.measured import block_times
from wireproof.measure.job import Prepared, prepare
from wireproof.measure.points import sweep
from wireproof.measure.resume import result_folder
from wireproof.measure.session.launch import command_of
from wireproof.measure.session.rounds import Rounds, sealed
from wireproof.measure.specification import MeasureSpecification
from wireproof.model import gathered
from wireproof.model.claim import is_several, rails_of
from wireproof.model.errors import BadInput
from wireproof.model.experiment import (
    BegunExperiment,
    ExperimentPlan,
    GainRow,
    RailGain,
    RailNumber,
)
from wireproof.model.finding import PairVerdict, worst_proof
from wireproof.model.pattern import crossings
from wireproof.model.quantity import counted
from wireproof.model.record import PairResult, PointRecord
from wireproof.physics.limits import limits
from wireproof.physics.rails import one_rail
from wireproof.report.judged_run import JudgedRun
from wireproof.report.reporter import Reporter, say_all
from wireproof.target.resolve import claimed_link
from wireproof.verdict.run.plateau import fills_link

DOCUMENT = "rails.json"
Key = tuple[str, int, int, int]
"""Pattern, size, origin and target."""
BUDGET_S = 0.3
"""Default time of one point; short, because the variation between rounds is larger than within a
round.
"""
SIZES = (65536, 1 << 20)
ROUNDS = 5


def measure_gain(
    wanted: MeasureSpecification,
    reporter: Reporter,
    environment: Mapping[str, str],
    *,
    rounds: int | None = None,
) -> tuple[RailGain, Path | None]:
    """Measure the pattern over each rail alone and over all of them; return their gain, and the
    folder of the records, None if nothing is kept.

    In addition to a one-way pattern, half round trips of the same sizes are measured, in which each
    message waits for the previous message. Raises ``BadInput`` before anything is started,
    ``CouldNotMeasure`` if a launch over the rails returns no number.
    """
    bench = _Rails(wanted, reporter, environment)
    with result_folder(wanted.storage, "rails", reporter) as folder:
        return bench.measure(folder, rounds or ROUNDS)


def plan_gain(
    wanted: MeasureSpecification,
    reporter: Reporter,
    environment: Mapping[str, str],
    *,
    rounds: int | None = None,
) -> ExperimentPlan:
    """Return the launches of a round, without starting anything. Raises ``BadInput``."""
    return _Rails(wanted, reporter, environment).planned(rounds or ROUNDS)


class _Rails(Bench[JudgedRun]):
    """The arms are each rail alone and, as the last arm, all of them together."""

    def __init__(
        self, wanted: MeasureSpecification, reporter: Reporter, environment: Mapping[str, str]
    ) -> None:
        self._wanted, self._reporter = _checked(wanted), reporter
        self._folder = Path()
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
        for way in self._ways:  # raises before anything is written
            command_of(way.session(0, self._seed, None), way.prepared.target)

    def _prepared(self, environment: Mapping[str, str]) -> Prepared:
        prepared = prepare(dataclasses.replace(self._wanted, method=self._method), environment)
        target = prepared.target
        if not target.hosts or not target.nics or not is_several(target.nics[0]):
            raise BadInput("--gain compares rails: give --hosts and --nic hsn0,hsn1.")
        return self._with_waiting(prepared)

    def _with_waiting(self, prepared: Prepared) -> Prepared:
        """Add half round trips of the same sizes to one-way messages."""
        first = prepared.points[0]
        if crossings(first.pattern, first.form) > 0:
            return prepared
        sizes = sorted({point.message_bytes for point in prepared.points})
        waiting = sweep("pingpong", sizes, [(0, 1)])
        return dataclasses.replace(prepared, points=(*prepared.points, *waiting))

    def _alone(self, number: int, environment: Mapping[str, str]) -> Rounds:
        rail, link = self._rails[number], claimed_link(self._wanted)
        wanted = dataclasses.replace(
            self._wanted, nic=rail, method=self._method, link="", mtu=None, pcie=""
        )
        where = prepare(wanted, environment).target
        if link is not None:
            where = dataclasses.replace(where, link=one_rail(link, number))
        # the launches must differ only in the rails
        return self._way(rail, dataclasses.replace(self._together, target=where))

    def _way(self, rail: str, prepared: Prepared) -> Rounds:
        title = f"{rail} alone" if rail else f"{' and '.join(self._rails)} together"
        return Rounds(title, prepared, self._method, self._wanted.storage)

    def planned(self, rounds: int) -> ExperimentPlan:
        """Return the launches of the first round."""
        target = self._together.target
        arms = [
            planned_arm(
                way.title, command_of(way.session(0, self._seed, None), way.prepared.target)
            )
            for way in self._ways
        ]
        return ExperimentPlan(
            hosts=list(dict.fromkeys(target.hosts)),
            rounds=rounds,
            seed=self._seed,
            arms=arms,
            notes=list(target.notes),
        )

    def measure(self, folder: Path, rounds: int) -> tuple[RailGain, Path | None]:
        """Measure all rounds, seal the records and return the answer. Launches whose records are
        already in ``folder`` are not repeated.
        """
        say_all(self._together.target.notes, self._reporter)
        names = "; ".join(way.title for way in self._ways)
        self._reporter.say(f"{counted(rounds, 'round')} of {names}")
        self._folder = folder
        keeper = Keeper(folder if self._wanted.storage.kept else None, BegunExperiment)
        asked = {
            "the rounds": str(rounds),
            "the hosts": ",".join(self._together.target.hosts),
            "the launches": names,
        }
        begun = keeper.begun(asked)
        if begun is not None:
            self._seed = begun.seed
        design = Design(arms=tuple(range(len(self._ways))), seed=str(self._seed), rounds=rounds)
        seconds = begun.seconds if begun is not None else 0.0
        experiment: Experiment[JudgedRun] = Experiment(design=design, seconds=seconds)

        def keep(so_far: Experiment[JudgedRun]) -> None:
            keeper.keep(
                BegunExperiment(
                    asked=asked, seed=self._seed, rounds=so_far.rounds, seconds=so_far.seconds
                )
            )

        keep(experiment)
        carry_out(experiment, self, self._reporter.say, time.monotonic, keep)
        if experiment.stopped == "interrupted":
            raise KeyboardInterrupt
        return self._result(experiment, folder)

    def run(self, place: TrialPlace) -> JudgedRun:
        last = place.arm == len(self._rails)
        name = "together" if last else f"rail{place.arm + 1}"
        folder = self._folder / f"{name}-{place.round_ + 1}"
        return self._ways[place.arm].run(place.round_, self._seed, folder, self._reporter)

    def _result(
        self, experiment: Experiment[JudgedRun], folder: Path
    ) -> tuple[RailGain, Path | None]:
        parts = [way.part(way.title) for way in self._ways]
        sections = [part.section for part in parts]
        gain = self._gain(sections, experiment)
        place = sealed(
            parts,
            gain,
            answer=gain.answer,
            title=f"rails {', '.join(self._rails)} of {', '.join(gain.hosts)}",
            place=folder / DOCUMENT,
            storage=self._wanted.storage,
            reporter=self._reporter,
        )
        return gain, place

    def _gain(self, sections: list[JudgedRun], experiment: Experiment[JudgedRun]) -> RailGain:
        times = [times_of(way.sections) for way in self._ways]
        keys = [key for key in times[-1] if all(key in by_key for by_key in times)]
        rows = [self._row(key, [by_key[key] for by_key in times], sections) for key in sorted(keys)]
        judged = judge_gain(rows, sections[-1].criteria)
        target = self._together.target
        known = self._ways[-1].sections[0].run.provenance
        return RailGain(
            verdict=judged.verdict,
            answer=judged.answer,
            hosts=list(dict.fromkeys(target.hosts)),
            rails=list(self._rails),
            link=target.link.name if target.link is not None else "",
            rounds=experiment.rounds,
            seed=self._seed,
            rows=rows,
            findings=judged.findings,
            told=told_in(known.argv, known.environment),
            seconds=experiment.seconds,
            notes=list(target.notes),
        )

    def _row(self, key: Key, times: list[list[list[float]]], sections: list[JudgedRun]) -> GainRow:
        pattern, size, origin, target = key
        numbers = [
            RailNumber(
                rail=rail,
                goodput=goodput_of(size, launches),
                limit=self._limit(way.prepared, size),
                proof=worst_proof(pair.proof for pair in verdicts_of(section, key)),
                waited=waited_in(point for run in way.sections for point in run.run.points),
            )
            for rail, way, launches, section in zip(
                (*self._rails, ""), self._ways, times, sections, strict=True
            )
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

    def _limit(self, prepared: Prepared, size: int) -> float | None:
        link = prepared.target.link
        if link is None:
            return None
        return limits(
            link, "stream", "stream", size, self._wanted.method.table
        ).attainable_bytes_per_s


def _checked(wanted: MeasureSpecification) -> MeasureSpecification:
    """Return the specification with sizes at which a gain is visible.

    Raises ``BadInput`` if nothing can be compared.
    """
    method = wanted.method
    if method.nic_selection == "none":
        raise BadInput("--gain chooses the rails of each launch: leave out --nic-selection none.")
    if method.plays_hosts or method.transport in ("null", "model"):
        raise BadInput("--gain needs hosts with rails: the model and null transports have none.")
    if not wanted.sizes:
        return dataclasses.replace(wanted, sizes=SIZES)
    if max(wanted.sizes) == 0:
        raise BadInput("--gain compares goodput: give a size above 0 B.")
    return dataclasses.replace(wanted, sizes=tuple(size for size in wanted.sizes if size))


def times_of(sections: Sequence[JudgedRun]) -> Mapping[Key, list[list[float]]]:
    """Return the times of one operation in ns, by launch."""
    return gathered(
        (key_of(point, pair), [float(time_ns) for time_ns in block_times(point, pair)])
        for section in sections
        for point in section.run.points
        for pair in point.pairs
    )


def key_of(point: PointRecord, pair: PairResult) -> Key:
    return point.pattern, point.message_bytes, pair.origin, pair.target


def verdicts_of(section: JudgedRun, key: Key) -> list[PairVerdict]:
    """Return the verdicts of one pattern, size and direction, over all rounds."""
    return [
        pair
        for pair in section.judgement.pairs
        if (pair.pattern, pair.message_bytes, pair.origin, pair.target) == key
    ]
