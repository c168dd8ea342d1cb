"""Stream at 1 MiB and message rate at 8 B on one host: ours beside IMB-MPI1 Uniband with the same
window.

Uniband sends all messages of a window from one buffer into one buffer and drains the pipe after
each window. Our formula ``imb-mpi1`` does the same and is what the target is about; our own stream
(own receive buffers, a pipe that never drains, at most 4 MiB in flight) is shown with the window
that it really uses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from benchmarks.contest import Contest
from benchmarks.paired import Comparison, Sample, undisturbed
from benchmarks.rivals import ImbRow, imb_mpi1_argv, parse_imb, repeated
from benchmarks.setting import Setting, find_intel
from benchmarks.stage import Stage, bounce_of, here
from wireproof.model.errors import CouldNotMeasure, WireproofError
from wireproof.model.plan import Point, Policy
from wireproof.model.run import Run

__all__ = ["run"]

GROUP = "stream, shared memory"
TARGET = 0.98
SMALL, LARGE = 8, 1 << 20
WINDOW = 64
BOUNDED = 4
"""Window of our own stream at 1 MiB: 4 MiB in flight."""
MESSAGES = {SMALL: 6400, LARGE: 64}
"""For one value, whatever the window, on both sides: a millisecond at 8 B, six at 1 MiB."""
ROWS = {SMALL: 60, LARGE: 16}


def _point(size: int, window: int, *, robust: bool) -> Point:
    base = Point(
        id=0, pattern="stream", form="stream", message_bytes=size, window=window, pairs=((0, 1),)
    )
    if robust:
        return _with(base, budget_ms=150)
    return _with(base, formula="imb-mpi1", iterations=MESSAGES[size])


def _with(point: Point, **changes: object) -> Point:
    import msgspec

    return msgspec.structs.replace(point, **changes)


def _points(size: int) -> list[Point]:
    own = [_point(size, WINDOW, robust=False)] * (6 if size == SMALL else 3)
    if size == LARGE:
        own += [_point(size, BOUNDED, robust=False)] * 3
    return [*own, _point(size, WINDOW, robust=True)] * 3


def sample_of(run: Run, _seconds: float = 0.0) -> Sample:
    """Messages per second by formula and window: ``imb-mpi1/64``, ``robust``."""
    values: dict[str, list[float]] = {}
    for point in run.points:
        for pair in point.pairs:
            robust = point.formula == "robust"
            value = pair.estimate and pair.estimate.median_ns if robust else pair.formula_value_ns
            if value:
                name = "robust" if robust else f"imb-mpi1/{point.window}"
                values.setdefault(name, []).append(value)
    return Sample(
        {name: 1e9 / undisturbed(found) for name, found in values.items()}, bounce_of(run)
    )


def _ours(stage: Stage, size: int) -> Callable[[], Sample]:
    plan = _points(size)
    return lambda: sample_of(
        *stage.engine(plan, Policy(point_budget_ms=500, run_deadline_ms=90_000))
    )


def _rate(rows: Sequence[ImbRow]) -> float:
    """Messages per second: undisturbed median of the rows after the first eighth."""
    rates = [row.columns["Msg/sec"] for row in rows[len(rows) // 8 :] if row.columns.get("Msg/sec")]
    if not rates:
        raise CouldNotMeasure("IMB-MPI1 Uniband printed no row that can be read")
    return 1 / undisturbed([1 / rate for rate in rates])


def _uniband(
    stage: Stage, program: Path, sizes: Path, size: int, window: int
) -> Callable[[], Sample]:
    argv = imb_mpi1_argv(program, "Uniband", sizes, MESSAGES[size] // window, window)
    return lambda: Sample({"rate": _rate(parse_imb(stage.rival(argv)[0]))})


def _compare_size(setting: Setting, stage: Stage, program: Path, size: int, until: float) -> None:
    sizes = setting.file(f"uniband-{size}.txt", repeated([size], ROWS[size]))
    windows = (WINDOW,) if size == SMALL else (WINDOW, BOUNDED)
    rivals = {f"Uniband, window {w}": _uniband(stage, program, sizes, size, w) for w in windows}
    shown = "8 B" if size == SMALL else "1 MiB"
    setting.say(f"{GROUP}: {shown} against {', '.join(rivals)}")
    contest = Contest(
        GROUP,
        _ours(stage, size),
        rivals,
        list(_wishes(shown, windows)),
        (f"imb-mpi1/{windows[0]}", f"messages/s at {shown}"),
        setting.rounds,
    )
    setting.hold(contest, until)


def _wishes(shown: str, windows: Sequence[int]) -> Iterator[Comparison]:
    for window in windows:
        for metric in (f"imb-mpi1/{window}", "robust"):
            if metric == "robust" and window != windows[-1]:
                continue  # our own stream has the bounded window
            rival = f"Uniband, window {window}"
            yield Comparison(
                title=f"{shown}: {rival}: our {metric.partition('/')[0]}",
                rival=rival,
                ours=metric,
                theirs="rate",
                unit="messages/s",
                target=TARGET,
                sense="at least",
            )


def run(setting: Setting) -> None:
    """Adds the rows; what cannot run is named."""
    try:
        install = find_intel()
        stage = here(install)
        for size, share in ((LARGE, 0.6), (SMALL, 1.0)):
            _compare_size(
                setting, stage, install.launcher.parent / "IMB-MPI1", size, setting.share(share)
            )
    except WireproofError as error:
        setting.skip(GROUP, "IMB-MPI1 Uniband (Intel MPI)", error)
