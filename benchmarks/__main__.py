"""``python -m benchmarks``: every comparison in turn, one table. Exit status 0 all reached, 1 missed, 3 undecided."""

from __future__ import annotations

import os
import platform
import sys
import tempfile
import time
from pathlib import Path

import click

from benchmarks import bandwidth, lab_sweep, latency, osu, own, truth
from benchmarks.row import exit_status
from benchmarks.setting import Setting
from benchmarks.table import as_json, as_text
from wireproof import __version__

PARTS = {
    "latency": latency.run,
    "bandwidth": bandwidth.run,
    "lab": lab_sweep.run,
    "own": own.run,
    "truth": truth.run,
    "osu": osu.run,
}


def _load() -> str:
    return " ".join(f"{value:.2f}" for value in os.getloadavg())


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _machine() -> dict[str, object]:
    return {
        "wireproof": __version__,
        "processor": f"{_processor()}, {len(os.sched_getaffinity(0))} cores for us",
        "kernel": platform.release(),
        "load before": _load(),
    }


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--only", multiple=True, type=click.Choice(list(PARTS)), help="this part only (may be repeated).")
@click.option(
    "--rounds", type=click.IntRange(1, 1000), default=14, show_default=True, help="comparisons of each rival."
)
@click.option(
    "--lab-rounds", type=click.IntRange(1, 100), default=7, show_default=True, help="the same for lab sweeps."
)
@click.option("--full", is_flag=True, help="the suites' own default counts too: some minutes more.")
@click.option(
    "--json", "json_to", type=click.Path(dir_okay=False, allow_dash=True), help="JSON to a file, - for stdout."
)
def main(only: tuple[str, ...], rounds: int, lab_rounds: int, full: bool, json_to: str | None) -> None:
    """Compare wireproof with the benchmarks that people use today: IMB, OSU (OSU_HOME=), a plain MPI loop."""
    machine = _machine()
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="wireproof-bench-") as scratch:
        setting = Setting(
            scratch=Path(scratch), rounds=rounds, lab_rounds=lab_rounds, full=full,
            osu_home=os.environ.get("OSU_HOME", ""),
        )  # fmt: skip
        interrupted = False
        try:
            for name in only or PARTS:
                PARTS[name](setting)
        except KeyboardInterrupt:
            interrupted = True
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
