"""``python -m benchmarks``: every comparison in turn, one table. Exit status 0 all reached, 1
missed, 3 undecided.
"""

from __future__ import annotations

import os
import platform
import signal
import sys
import tempfile
import time
from pathlib import Path
from types import FrameType

import click

from benchmarks import (
    audit,
    bandwidth,
    collectives,
    history_pages,
    judge,
    lab_sweep,
    latency,
    libfabric,
    locate,
    osu,
    own,
    planning,
    planning_lab,
    planted,
    report,
    rings,
    steady,
    study_lab,
    trial_lab,
    truth,
)
from benchmarks.row import exit_status
from benchmarks.setting import Setting
from benchmarks.table import as_json, as_text
from wireproof.version import version

PARTS = {
    "truth": (truth.run, 1),
    "own": (own.run, 1),
    "judge": (judge.run, 2),
    "audit": (audit.run, 1),
    "locate": (locate.run, 3),
    "planning": (planning.run, 3),
    "planning-lab": (planning_lab.run, 5),
    "report": (report.run, 2),
    "pages": (history_pages.run, 1),
    "lab": (lab_sweep.run, 4),
    "planted": (planted.run, 4),
    "steady": (steady.run, 2),
    "try": (trial_lab.run, 2),
    "rings": (rings.run, 4),
    "libfabric": (libfabric.run, 3),
    "collectives": (collectives.run, 3),
    "osu": (osu.run, 1),
    "bandwidth": (bandwidth.run, 6),
    "latency": (latency.run, 8),
    "study": (study_lab.run, 25),
}
"""Each part and its weight in the time. Those that end when everything is decided come last, so
that what others have left over is theirs. The study is one of five minutes, or none.
"""
RESERVE_S = 45.0
"""Before the end no new round begins any more: one that is under way may end."""


class _TimeIsOver(Exception):
    """The last moment has come, whatever is under way."""


def _load() -> str:
    return " ".join(f"{value:.2f}" for value in os.getloadavg())


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _run(setting: Setting, names: list[str], until: float) -> None:
    """Each part in turn; it may use its weight's share of the time that is left. What is undecided
    then goes on in what is left over.
    """
    for number, name in enumerate(names):
        part, weight = PARTS[name]
        now = time.monotonic()
        if now >= until:
            setting.skip(name, "the whole part", "no time was left for it")
            continue
        left = sum(PARTS[later][1] for later in names[number:])
        setting.until = now + (until - now) * weight / left
        part(setting)
    setting.finish(until)


def _time_is_over(_number: int, _frame: FrameType | None) -> None:
    raise _TimeIsOver


def _bounded(setting: Setting, names: list[str], seconds: float) -> bool:
    """Runs the parts; True when they were interrupted. After ``seconds`` at the latest it ends."""
    reserve = min(RESERVE_S, seconds / 4)
    try:
        # what was found until then is told
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        signal.signal(signal.SIGALRM, _time_is_over)
        signal.setitimer(signal.ITIMER_REAL, seconds)
        _run(setting, names, time.monotonic() + seconds - reserve)
    except KeyboardInterrupt:
        return True
    except _TimeIsOver:
        setting.skip("the whole", "what was under way, and what follows it", "the time is over")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        setting.tell()
    return False


def _machine() -> dict[str, object]:
    return {
        "wireproof": version(),
        "processor": f"{_processor()}, {len(os.sched_getaffinity(0))} cores for us",
        "kernel": platform.release(),
        "load before": _load(),
    }


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--only",
    multiple=True,
    type=click.Choice(list(PARTS)),
    help="this part only (may be repeated).",
)
@click.option(
    "--rounds",
    type=click.IntRange(1, 1000),
    default=1000,
    show_default=True,
    help="comparisons of each rival, at most.",
)
@click.option(
    "--lab-rounds",
    type=click.IntRange(1, 100),
    default=12,
    show_default=True,
    help="the same for lab sweeps.",
)
@click.option(
    "--minutes",
    type=click.FloatRange(0.1, 600),
    default=15,
    show_default=True,
    help="for everything: what is undecided then is called so.",
)
@click.option("--full", is_flag=True, help="the suites' own default counts too: some minutes more.")
@click.option(
    "--json",
    "json_to",
    type=click.Path(dir_okay=False, allow_dash=True),
    help="JSON to a file, - for stdout.",
)
def main(
    only: tuple[str, ...],
    rounds: int,
    lab_rounds: int,
    minutes: float,
    full: bool,
    json_to: str | None,
) -> None:
    """Compare wireproof with the benchmarks that people use today: IMB, OSU (OSU_HOME=),
    fi_pingpong, a plain MPI loop.
    """
    machine = _machine()
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="wireproof-bench-") as scratch:
        setting = Setting(
            scratch=Path(scratch),
            rounds=rounds,
            lab_rounds=lab_rounds,
            full=full,
            osu_home=os.environ.get("OSU_HOME", ""),
        )
        names = [name for name in PARTS if not only or name in only]
        interrupted = _bounded(setting, names, 60 * minutes)
    machine |= {"load after": _load(), "seconds": round(time.monotonic() - begun, 1)}
    document = as_json(setting.rows, setting.not_run, machine)
    if json_to == "-":
        sys.stdout.buffer.write(document)
    else:
        sys.stdout.write(as_text(setting.rows, setting.not_run, machine))
        if json_to:
            Path(json_to).write_bytes(document)
    sys.exit(130 if interrupted else exit_status(setting.rows, setting.not_run))


if __name__ == "__main__":
    main()
