"""Half round trip at 8 B on one host: ours beside IMB's two ping-pongs and beside a plain MPI
loop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from benchmarks.contest import Contest
from benchmarks.paired import Comparison, Sample, undisturbed
from benchmarks.rivals import (
    imb_mpi1_argv,
    imb_p2p_argv,
    parse_imb,
    parse_plain,
    plain_argv,
    repeated,
)
from benchmarks.row import NotRun
from benchmarks.setting import Setting, compiler_of, find_intel, label_of, other_mpis
from benchmarks.stage import Stage, bounce_of, build_plain_loop, here
from wireproof.launch.engines import MpiInstall
from wireproof.model.errors import CouldNotMeasure, WireproofError
from wireproof.model.plan import Formula, Point, Policy
from wireproof.model.run import Run

__all__ = ["run"]

GROUP = "half round trip, 8 B, shared memory"
BYTES = 8
ITERATIONS = 1000
"""Of one printed row: 0.3 ms, short against a time slice, so that a disturbance spoils one row and
not the sample.
"""
ROWS = 80
OWN_ROWS = 6
"""Between two robust points."""
ROBUST_POINTS = 3
ROBUST_MS = 100
UNHURRIED = 20
"""First rows of a launch that are left out for both sides: queues are touched for the first
time.
"""
TARGET = 1.02
INTEL_SHARE = 0.7
"""Of the time for this part."""


def points(formulas: Sequence[Formula]) -> list[Point]:
    """Robust points among those of each formula; the latter have as many iterations as the rival's
    rows.
    """
    robust = Point(
        id=0, pattern="pingpong", message_bytes=BYTES, pairs=((0, 1),), budget_ms=ROBUST_MS
    )
    own = [
        msgspec.structs.replace(robust, formula=formula, iterations=ITERATIONS)
        for formula in formulas
    ]
    return [*(own * OWN_ROWS), robust] * ROBUST_POINTS


def sample_of(run: Run, _seconds: float = 0.0) -> Sample:
    """Undisturbed median of each formula's values; the first points of a launch count only where
    there are no others.
    """
    values: dict[str, list[float]] = {}
    for point in run.points:
        for pair in point.pairs:
            value = (
                pair.formula_value_ns
                if point.formula != "robust"
                else pair.estimate and pair.estimate.median_ns
            )
            if value:
                values.setdefault(point.formula, []).append(value)
    return Sample(
        {name: undisturbed(found[len(found) // 8 :]) for name, found in values.items()},
        bounce_of(run),
    )


def ours(stage: Stage, formulas: Sequence[Formula]) -> Callable[[], Sample]:
    plan = points(formulas)
    return lambda: sample_of(
        *stage.engine(plan, Policy(point_budget_ms=500, run_deadline_ms=60_000))
    )


def _median(values: Sequence[float], program: str) -> Sample:
    kept = values[min(UNHURRIED, len(values) // 2) :]
    if not kept:
        raise CouldNotMeasure(f"{program} printed no row that can be read")
    return Sample({"time": undisturbed(kept)})


def imb(stage: Stage, argv: tuple[str, ...]) -> Callable[[], Sample]:
    def once() -> Sample:
        text, _ = stage.rival(argv)
        return _median([row.half_round_trip_ns for row in parse_imb(text)], Path(argv[0]).name)

    return once


def plain(stage: Stage, program: Path) -> Callable[[], Sample]:
    argv = plain_argv(program, BYTES, ITERATIONS, ROWS)
    return lambda: _median(parse_plain(stage.rival(argv)[0])[0], program.name)


def _wish(rival: str, metric: str, formula: str, note: str = "") -> Comparison:
    title = f"{rival}: our {formula}"
    return Comparison(
        title=title, rival=rival, ours=formula, theirs=metric, unit="ns", target=TARGET, note=note
    )


def _intel(setting: Setting, until: float) -> None:
    install = find_intel()
    stage = here(install)
    binaries = install.launcher.parent
    sizes = setting.file("eight.txt", repeated([BYTES], ROWS))
    rivals = {
        "IMB-MPI1 PingPong": imb(
            stage, imb_mpi1_argv(binaries / "IMB-MPI1", "PingPong", sizes, ITERATIONS)
        ),
        "IMB-P2P PingPong": imb(
            stage, imb_p2p_argv(binaries / "IMB-P2P", sizes, ITERATIONS, 800, 0)
        ),
    }
    loop = f"plain loop, {label_of(install)}"
    try:
        rivals[loop] = plain(stage, build_plain_loop(compiler_of(install), setting.scratch))
    except WireproofError as error:
        setting.skip(GROUP, loop, error)
    setting.say(f"{GROUP}: {label_of(install)} against {', '.join(rivals)}")
    wishes = [
        _wish(rival, "time", formula)
        for rival in rivals
        for formula in ("robust", "imb-p2p" if "P2P" in rival else "imb-mpi1")
    ]
    own = ours(stage, ("imb-mpi1", "imb-p2p"))
    contest = Contest(GROUP, own, rivals, wishes, ("imb-mpi1", "ns"), setting.rounds)
    setting.hold(contest, until)


def _other(setting: Setting, install: MpiInstall, until: float) -> None:
    stage = here(install)
    name = f"plain loop, {label_of(install)}"
    rivals = {name: plain(stage, build_plain_loop(compiler_of(install), setting.scratch))}
    setting.say(f"{GROUP}: {name}")
    wishes = [_wish(name, "time", formula) for formula in ("robust", "imb-mpi1")]
    contest = Contest(GROUP, ours(stage, ("imb-mpi1",)), rivals, wishes, rounds=setting.rounds)
    setting.hold(contest, until)


def run(setting: Setting) -> None:
    """Adds the rows; what cannot run is named."""
    try:
        _intel(setting, setting.share(INTEL_SHARE))
    except WireproofError as error:
        setting.skip(GROUP, "IMB-MPI1 and IMB-P2P PingPong (Intel MPI)", error)
    installs = other_mpis()
    for number, install in enumerate(installs):
        try:
            _other(setting, install, setting.share(1 / (len(installs) - number)))
        except WireproofError as error:
            setting.skip(GROUP, f"plain loop, {label_of(install)}", error)
    families = {"debian-mpich" if one.needs_link else one.family for one in installs}
    for family, package in (
        ("debian-mpich", "mpich"),
        ("openmpi", "openmpi-bin and libopenmpi-dev"),
    ):
        if family not in families:
            setting.add(
                NotRun(
                    group=GROUP,
                    title=f"plain loop, {family}",
                    required=False,
                    reason=f"not on this machine (Debian packages {package})",
                )
            )
