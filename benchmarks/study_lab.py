"""`study psm3` in a lab, as a user gives the command: five knobs with three values each within five
minutes and 2 %, between two nodes with two NICs of 1 Gb/s, and what nobody tells it.

One of the three values is the base's own where there is one. Effects are ratios to the base of the
same block, so that a machine that others use costs width, not truth.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.lab_check import document_in
from benchmarks.row import Row, certain
from benchmarks.setting import Setting, find_intel
from wireproof.lab.cluster import Lab, up
from wireproof.model.errors import WireproofError
from wireproof.model.topology import Network, Topology

__all__ = ["run"]

GROUP = "study psm3, lab of 2 x 1 Gb/s"
VALUES = (
    "PSM3_MULTIRAIL=1,2",
    "PSM3_SOCKETS=1",
    "PSM3_FLOW_CREDITS=16|2:4:1|256:1024:16",
    "PSM3_MTU=8192,16384,32768",
    "PSM3_RCVTHREAD=0",
)
BUDGET_S = 290
WITHIN_S = 300.0
NARROW = 0.02


def topology() -> Topology:
    """Two nodes, each with two NICs of one rate."""
    networks = tuple(
        Network(name=f"rail{n}", device=f"hsn{n}", rate="1gbit", subnet=f"10.20.{n}.0/24")
        for n in (0, 1)
    )
    return Topology(nodes=("n1", "n2"), networks=networks)


def study(lab: Lab, mpi: Path, seed: int) -> tuple[Any, float]:
    """(the JSON document, None where there is none; seconds) of one study."""
    argv = [sys.executable, "-m", "wireproof", "study", "psm3", "--lab", lab.name, "--json"]
    argv += ["--mpi", str(mpi), "--nic", "hsn0", "--seed", str(seed), "--over", "pingpong,stream"]
    argv += [word for value in VALUES for word in ("--values", value)]
    argv += ["--budget", f"{BUDGET_S}s"]
    began = time.monotonic()
    done = subprocess.run(argv, capture_output=True, timeout=2 * BUDGET_S, check=False)
    return document_in(done.stdout), time.monotonic() - began


def run(setting: Setting) -> None:
    """One study: its time, its width, and what it found. It takes what it is given, so that there
    must be time for the whole.
    """
    if setting.until - time.monotonic() < BUDGET_S:
        setting.skip(GROUP, "study", f"less than its {BUDGET_S} s were left: --only study")
        return
    try:
        install = find_intel()
        with up(topology(), f"bench-study-{os.getpid()}") as lab:
            found, seconds = study(lab, install.launcher, 0)
    except (WireproofError, subprocess.TimeoutExpired) as error:
        setting.skip(GROUP, "study", str(error))
        return
    if found is None:
        setting.skip(GROUP, "study", "it gave no document")
        return
    setting.say(f"study: {found['rounds']} rounds, {len(found['runs'])} launches, {seconds:.0f} s")
    note = f"{found['rounds']} rounds of {found['rounds_planned']}, {len(found['runs'])} launches"
    setting.add(
        certain(GROUP, "5 knobs with 3 values", "s", seconds, WITHIN_S, quantity="time", note=note)
    )
    _widths(setting, found)
    _rails(setting, found)


def _widths(setting: Setting, found: Any) -> None:
    for pattern, half in found["precision"].items():
        setting.add(
            certain(
                GROUP,
                f"half interval of an effect on {pattern}, median",
                "%",
                100.0 * half,
                100.0 * NARROW,
                quantity="half interval",
            )
        )


def _rails(setting: Setting, found: Any) -> None:
    """Two rails double a stream and no ping-pong."""
    names = [f"{one.get('knob', '')}={one.get('value', '')}" for one in found["configurations"]]
    number = names.index("PSM3_MULTIRAIL=1")
    for one in found["effects"]:
        if one["configuration"] == number:
            title = f"two rails / one, {one['pattern']}"
            setting.add(
                Row(
                    group=GROUP,
                    title=title,
                    unit="ratio",
                    value=one["ratio"],
                    low=one["low"],
                    high=one["high"],
                    target=1.5 if one["pattern"] == "stream" else None,
                    sense="at least",
                    pairs=one["blocks"],
                )
            )
