"""Barrier and allreduce beside IMB-MPI1's: two ranks on this machine, one launch of each in
turn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.contest import Contest
from benchmarks.paired import Comparison, Sample, undisturbed
from benchmarks.rivals import repeated
from benchmarks.setting import Setting, find_intel
from benchmarks.stage import Stage, here
from wireproof.model.errors import CouldNotMeasure, WireproofError
from wireproof.model.pattern import Pattern
from wireproof.model.plan import Formula, Point, Policy
from wireproof.model.run import Run

__all__ = ["imb_t_max", "own_values", "run"]

GROUP = "collectives, 2 ranks, shared memory"
ITERATIONS = 1000
ROWS = 24
OWN_ROWS = 4
SIZES = (8, 1024)
HALF_DIGIT_NS = 5.0
"""IMB prints microseconds with two decimals."""
WITHIN = 0.05
ROBUST_MS = 100
BOTH: tuple[Formula, ...] = ("imb-mpi1", "robust")


def imb_t_max(text: str) -> Iterator[tuple[str, float]]:
    """(``barrier`` or ``allreduce SIZE``, t_max in ns) of every row of IMB-MPI1 Barrier and
    Allreduce.
    """
    name, columns = "", 0
    for line in text.splitlines():
        words = line.split()
        if words[:2] == ["#", "Benchmarking"]:
            name = words[2].lower() if len(words) > 2 else ""
        elif words[:1] in (["#bytes"], ["#repetitions"]):
            columns = len(words)
        elif name in ("barrier", "allreduce") and columns and len(words) == columns:
            try:
                numbers = [float(word) for word in words]
            except ValueError:
                continue
            label = name if name == "barrier" else f"{name} {numbers[0]:.0f}"
            yield label, 1e3 * numbers[-2]


def _medians(values: dict[str, list[float]]) -> Sample:
    """The first eighth of a launch touches everything for the first time and is left out, on both
    sides.
    """
    return Sample({name: undisturbed(found[len(found) // 8 :]) for name, found in values.items()})


def own_values(run: Run) -> Sample:
    """ns per call: ``barrier imb-mpi1``, ``allreduce 8 robust`` and so on."""
    values: dict[str, list[float]] = {}
    for point in run.points:
        group = point.group
        value = group and (group.formula_value_ns or (group.estimate and group.estimate.median_ns))
        if value:
            name = (
                point.pattern
                if point.pattern == "barrier"
                else f"{point.pattern} {point.message_bytes}"
            )
            values.setdefault(f"{name} {point.formula}", []).append(value)
    return _medians(values)


def _points() -> list[Point]:
    def point(pattern: Pattern, size: int, formula: Formula) -> Point:
        suite = formula != "robust"
        return Point(
            id=0,
            pattern=pattern,
            message_bytes=size,
            members=(0, 1),
            formula=formula,
            iterations=ITERATIONS if suite else 0,
            budget_ms=None if suite else ROBUST_MS,
        )

    kinds: list[tuple[Pattern, int]] = [("barrier", 0), *(("allreduce", size) for size in SIZES)]
    suite = [point(pattern, size, "imb-mpi1") for pattern, size in kinds]
    return [*(suite * OWN_ROWS), *(point(pattern, size, "robust") for pattern, size in kinds)] * 2


def _imb(stage: Stage, program: Path, sizes: Path) -> Callable[[], Sample]:
    argv = [str(program), *["Barrier"] * (ROWS // 3), "Allreduce", "-msglen", str(sizes)]
    argv += ["-iter", str(ITERATIONS), "-iter_policy", "off"]

    def once() -> Sample:
        values: dict[str, list[float]] = {}
        for name, ns in imb_t_max(stage.rival(argv)[0]):
            values.setdefault(name, []).append(ns)
        if len(values) != 1 + len(SIZES):
            raise CouldNotMeasure("IMB-MPI1 Barrier and Allreduce printed no rows that can be read")
        return _medians(values)

    return once


def _wish(name: str, formula: Formula) -> Comparison:
    """IMB's clock around an allreduce is MPI_Wtime, which costs 25 ns; at 8 B that shows, so no
    target there.
    """
    same = formula == "imb-mpi1"
    short = name == "allreduce 8"
    note = "its clock is MPI_Wtime, ours the counter" if short else ""
    return Comparison(
        title=f"{name}{'' if name == 'barrier' else ' B'}: our {formula}",
        rival="IMB-MPI1",
        ours=f"{name} {formula}",
        theirs=name,
        unit="ns",
        target=WITHIN if same and not short else None,
        sense="within",
        resolution=HALF_DIGIT_NS,
        states=False,
        note=note
        if same
        else "another quantity: the median, and calls one after another without a barrier",
    )


def _side_by_side(setting: Setting) -> None:
    install = find_intel()
    stage = here(install)
    sizes = setting.file("collectives.txt", repeated(SIZES, ROWS))
    rivals = {"IMB-MPI1": _imb(stage, install.launcher.parent / "IMB-MPI1", sizes)}
    points = _points()
    policy = Policy(point_budget_ms=500, run_deadline_ms=90_000)
    setting.say(f"{GROUP}: IMB-MPI1 Barrier and Allreduce")
    wishes = [
        _wish(name, formula)
        for name in ("barrier", *(f"allreduce {size}" for size in SIZES))
        for formula in BOTH
    ]
    contest = Contest(
        GROUP,
        lambda: own_values(stage.engine(points, policy)[0]),
        rivals,
        wishes,
        ("allreduce 8 imb-mpi1", "ns"),
        setting.rounds,
    )
    setting.hold(contest, setting.until)


def run(setting: Setting) -> None:
    """Adds the rows; what cannot run is named."""
    try:
        _side_by_side(setting)
    except WireproofError as error:
        setting.skip(GROUP, "IMB-MPI1 Barrier and Allreduce (Intel MPI)", error)
