"""Rings beside HPCC's own, and the message rate of all pairs beside IMB-MPI1 Uniband.

HPCC prints one figure per launch, so every comparison is a launch of each. Its ring is 8
repetitions of loops that last 10 us at least: sound where a message takes as long the first time as
the thousandth. Where it does not (Intel MPI touches new memory for its first thousand messages)
both HPCC's figure and ours by its recipe are those first messages; our own robust ring, which warms
up until it is stationary, is shown beside it.
"""

from __future__ import annotations

import contextlib
import statistics
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.contest import Contest
from benchmarks.paired import Comparison, Sample, undisturbed
from benchmarks.rivals import imb_mpi1_argv, parse_imb, repeated
from benchmarks.setting import Setting, find_intel, label_of, other_mpis
from benchmarks.stage import Stage, here
from wireproof.model.errors import CouldNotMeasure, WireproofError
from wireproof.model.plan import Point, Policy
from wireproof.model.run import Run

__all__ = ["hpcc_input", "ring_samples", "run", "summary_of"]

RINGS, RATE = "rings, shared memory", "message rate, shared memory"
WITHIN = 0.03
LEAST_RATE = 0.98
WINDOW = 64
WINDOWS = 100
ROWS = 60
HPCC = Path("/usr/bin/hpcc")
KEYS = {
    "natural": "NaturallyOrderedRingLatency_usec",
    "random": "RandomlyOrderedRingLatency_usec",
}


def hpcc_input() -> str:
    """The least hpccinf.txt: HPCC cannot run its rings alone, so all that comes before them is made
    small.
    """
    lines = [
        "",
        "",
        "HPL.out",
        "8",
        "1",
        "64",
        "1",
        "32",
        "0",
        "1",
        "1",
        "2",
        "16.0",
        "1",
        "2",
        "1",
        "4",
        "1",
        "2",
        "1",
    ]
    lines += ["1", "1", "1", "1", "0", "2", "64", "0", "0", "1", "8", "#", "0", "1200", "0", "40"]
    return "\n".join(lines) + "\n"


def summary_of(text: str) -> dict[str, float]:
    """ns per message by order from the ``Key=value`` lines of hpccoutf.txt. Raises
    ``CouldNotMeasure``.
    """
    found: dict[str, float] = {}
    for line in text.splitlines():
        key, _, value = line.partition("=")
        for order, name in KEYS.items():
            if key.strip() == name:
                with contextlib.suppress(ValueError):
                    found[order] = 1e3 * float(value)
    if set(found) != set(KEYS):
        raise CouldNotMeasure("HPCC wrote no ring latencies into hpccoutf.txt")
    return found


def ring_samples(run: Run, _seconds: float = 0.0) -> Sample:
    """ns per message: ``natural`` and ``random`` by HPCC's recipe, ``robust`` (half a turn of our
    own ring).
    """
    values: dict[str, list[float]] = {}
    for point in run.points:
        group = point.group
        if group is None or group.estimate is None:
            continue
        if point.formula == "robust":
            values.setdefault("robust", []).append(group.estimate.median_ns / 2)
        elif group.formula_value_ns:
            values.setdefault(point.order or "rate", []).append(group.formula_value_ns)
    return Sample({name: statistics.median(found) for name, found in values.items()})


def _ring_points() -> list[Point]:
    base = {"id": 0, "pattern": "ring", "message_bytes": 8, "members": (0, 1)}
    hpcc = [Point(**base, formula="hpcc"), Point(**base, formula="hpcc", order="random")]  # type: ignore[arg-type]
    return [*hpcc, Point(**base, budget_ms=150)]  # type: ignore[arg-type]


def _ours(stage: Stage, points: list[Point]) -> Callable[[], Sample]:
    return lambda: ring_samples(
        *stage.engine(points, Policy(point_budget_ms=500, run_deadline_ms=90_000))
    )


def _hpcc(stage: Stage, folder: Path) -> Callable[[], Sample]:
    output = folder / "hpccoutf.txt"

    def once() -> Sample:
        output.unlink(missing_ok=True)  # it appends
        with contextlib.chdir(folder):  # it reads and writes where it is started
            stage.rival([str(HPCC)])
        if not output.is_file():
            raise CouldNotMeasure("HPCC wrote no hpccoutf.txt")
        return Sample(summary_of(output.read_text(encoding="utf-8", errors="replace")))

    return once


def _rings(setting: Setting) -> None:
    installs = [install for install in other_mpis() if install.family == "openmpi"]
    if not installs or not HPCC.is_file():
        raise CouldNotMeasure("Debian's hpcc and the Open MPI that it is linked against are needed")
    stage = here(installs[0])
    folder = setting.scratch / "hpcc"
    folder.mkdir(exist_ok=True)
    (folder / "hpccinf.txt").write_text(hpcc_input(), encoding="ascii")
    setting.say(f"{RINGS}: HPCC under {label_of(installs[0])}")
    rivals = {"HPCC": _hpcc(stage, folder)}
    own = _ours(stage, _ring_points())
    wishes, control = list(_ring_wishes()), ("natural", "ns/message")
    contest = Contest(RINGS, own, rivals, wishes, control, setting.rounds)
    setting.hold(contest, setting.share(0.7))


def _ring_wishes() -> Iterator[Comparison]:
    for order in KEYS:
        yield Comparison(
            title=f"8 B, {order} order: by HPCC's recipe",
            rival="HPCC",
            ours=order,
            theirs=order,
            unit="ns/message",
            target=WITHIN,
            sense="within",
            states=False,
        )
    yield Comparison(
        title="8 B: our robust ring",
        rival="HPCC",
        ours="robust",
        theirs="natural",
        unit="ns/message",
        states=False,
        note="another quantity: stationary, and the median instead of the least of 8",
    )


def _rate_sample(run: Run, _seconds: float = 0.0) -> Sample:
    """Messages per second over all pairs."""
    values: dict[str, list[float]] = {}
    for point in run.points:
        group = point.group
        value = group and (group.formula_value_ns or (group.estimate and group.estimate.median_ns))
        if group and value:
            values.setdefault(point.formula, []).append(value / group.messages_per_operation)
    return Sample({name: 1e9 / undisturbed(found) for name, found in values.items()})


def _rate_points() -> list[Point]:
    base = {
        "id": 0,
        "pattern": "message_rate",
        "message_bytes": 8,
        "members": (0, 1),
        "window": WINDOW,
    }
    suite = Point(**base, formula="imb-mpi1", iterations=WINDOWS * WINDOW)  # type: ignore[arg-type]
    return [*[suite] * 6, Point(**base, budget_ms=150)] * 3  # type: ignore[arg-type]


def _rate(setting: Setting) -> None:
    stage = here(install := find_intel())
    sizes = setting.file("uniband-rings.txt", repeated([8], ROWS))
    program = install.launcher.parent / "IMB-MPI1"
    argv = imb_mpi1_argv(program, "Uniband", sizes, WINDOWS, WINDOW)

    def theirs() -> Sample:
        rows = parse_imb(stage.rival(argv)[0])
        rates = [rate for row in rows[ROWS // 8 :] if (rate := row.columns.get("Msg/sec", 0.0))]
        if not rates:
            raise CouldNotMeasure("IMB-MPI1 Uniband printed no row that can be read")
        return Sample({"rate": 1 / undisturbed([1 / rate for rate in rates])})

    points, policy = _rate_points(), Policy(point_budget_ms=500, run_deadline_ms=90_000)
    setting.say(f"{RATE}: IMB-MPI1 Uniband")
    contest = Contest(
        RATE,
        lambda: _rate_sample(*stage.engine(points, policy)),
        {"Uniband": theirs},
        [_rate_wish(formula) for formula in ("imb-mpi1", "robust")],
        ("imb-mpi1", "messages/s"),
        setting.rounds,
    )
    setting.hold(contest, setting.until)


def _rate_wish(formula: str) -> Comparison:
    return Comparison(
        title=f"8 B, window {WINDOW}: our {formula}",
        rival="Uniband",
        ours=formula,
        theirs="rate",
        unit="messages/s",
        target=LEAST_RATE,
        sense="at least",
        states=False,
    )


def run(setting: Setting) -> None:
    """Adds the rows; what cannot run is named."""
    for group, part in ((RINGS, _rings), (RATE, _rate)):
        try:
            part(setting)
        except WireproofError as error:
            setting.skip(group, group, error)
