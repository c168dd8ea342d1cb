"""`check` of healthy links, from 10 Mb/s to 10 Gb/s, with every MPI, alone and beside two busy
loops: no fail, ever.

Each trial is the command as a user gives it, by its JSON and its exit status. Inconclusive is an
honest answer of a busy machine; how often it is given is told too. So is the longest check.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator

from benchmarks.lab_check import add_longest, check
from benchmarks.row import certain
from benchmarks.setting import Setting, find_intel, other_mpis
from wireproof.lab.cluster import Lab, up
from wireproof.model.errors import WireproofError
from wireproof.model.topology import Network, Topology

__all__ = ["busy", "run"]

GROUP = "steady"
RATES = ("10mbit", "100mbit", "1gbit", "10gbit")
BUSY_LOOPS = 2
PROMISED_S = 45.0


@contextlib.contextmanager
def busy(count: int) -> Iterator[None]:
    """Loops that take processors away meanwhile."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
        for loop in loops:
            loop.wait()


def _check(lab: Lab, mpi: str, seed: int) -> tuple[str, float, str]:
    """(verdict, seconds, codes of what failed) of one check; "none" where nothing could be
    judged.
    """
    found, took = check(lab, seed, "--mpi", mpi)
    document = found or {}
    failed = {
        finding["code"] for finding in document.get("findings", []) if finding["severity"] == "fail"
    }
    return document.get("verdict", "none"), took, " ".join(sorted(failed))


def _row(setting: Setting, title: str, found: list[str], wanted: str, target: float | None) -> None:
    """How many checks had the verdict: a count without chance, so that none is none."""
    hits = float(sum(verdict == wanted for verdict in found))
    note = f"{hits:.0f} of {len(found)} checks of two good nodes"
    setting.add(certain(GROUP, title, "checks", hits, target, pairs=len(found), note=note))


def _tell(setting: Setting, found: dict[tuple[str, str], list[str]], seconds: list[float]) -> None:
    for busy in ("alone", "beside busy loops"):
        for rate in RATES:
            verdicts = found.get((rate, busy), [])
            if not verdicts:
                setting.skip(GROUP, f"{rate}, {busy}", "no time was left for it", required=False)
                continue
            _row(setting, f"{rate}, {busy}: fails", verdicts, "fail", 0.0)
            _row(setting, f"{rate}, {busy}: passes", verdicts, "pass", None)
            _row(setting, f"{rate}, {busy}: nothing to judge", verdicts, "none", 0.0)
    add_longest(setting, GROUP, seconds, PROMISED_S)


def _trials(setting: Setting, labs: dict[str, Lab], mpis: list[str]) -> None:
    found: dict[tuple[str, str], list[str]] = {}
    seconds: list[float] = []
    seed = 0
    while seed < setting.lab_rounds and time.monotonic() < setting.until:
        seed += 1
        for mpi in mpis:
            for company, loops in (("alone", 0), ("beside busy loops", BUSY_LOOPS)):
                for rate, lab in labs.items():
                    if time.monotonic() >= setting.until:
                        break
                    with busy(loops):
                        verdict, took, failed = _check(lab, mpi, seed)
                    seconds.append(took)
                    found.setdefault((rate, company), []).append(verdict)
                    setting.say(f"{rate} {mpi} {company}: {verdict} {failed} in {took:.0f} s")
    _tell(setting, found, seconds)


def run(setting: Setting) -> None:
    """Each rate's lab of our own, which goes with us; ``--lab-rounds`` times every MPI, alone and
    disturbed.
    """
    mpis = [str(install.launcher) for install in other_mpis()]
    with contextlib.suppress(WireproofError):
        mpis.append(str(find_intel().launcher))
    with contextlib.ExitStack() as stack:
        labs = {}
        try:
            for number, rate in enumerate(RATES):
                network = Network(
                    name="hsn", device="hsn0", rate=rate, subnet=f"10.{60 + number}.1.0/24"
                )
                name = f"bench-steady-{os.getpid()}-{number}"
                labs[rate] = stack.enter_context(
                    up(Topology(nodes=("n1", "n2"), networks=(network,)), name, tied=True)
                )
            _trials(setting, labs, mpis)
        except WireproofError as error:
            setting.skip(GROUP, "checks of good links", str(error))
