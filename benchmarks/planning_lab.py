"""``plan scale`` against a lab: parameters of one pair, then rings of 2, 4 and 8 nodes and the
screen of a check.

A prediction is for ranks that have their own processors. Eight that poll on two cores take turns of
3 ms, which is what the rings were slower by; here they run in turns of 0.1 ms, before other work
(``turns``), and the wire's 10 ms stand well above what is left.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.lab_check import check
from benchmarks.row import Row, certain
from benchmarks.setting import Setting
from benchmarks.turns import argv_of
from wireproof.lab.cluster import Lab, up
from wireproof.model.errors import WireproofError
from wireproof.model.topology import Network, Topology
from wireproof.plan.job import plan_scale

__all__ = ["run"]

GROUP = "planning, lab"
TIMEOUT_S = 180
REPEATS = 6
NODES = tuple(f"n{number}" for number in range(1, 9))
NETWORK = Network(name="hsn", device="hsn0", rate="100mbit", subnet="10.20.1.0/24")
LATENCY = "10ms"
SIZES = (8, 65_536)


def run(setting: Setting) -> None:
    """All rows of the part."""
    plain = Topology(nodes=NODES, networks=(NETWORK,))
    slow = Topology(nodes=NODES, networks=(NETWORK,), wire="store-and-forward", latency=LATENCY)
    for name, topology, part in (("screen", plain, _screens), ("rings", slow, _rings)):
        try:
            with up(topology, f"bench-plan-{name}", tied=True) as lab:
                part(setting, lab, _pair(lab, setting.scratch / f"pair-{name}"))
        except (WireproofError, subprocess.SubprocessError, OSError, ValueError) as error:
            setting.skip(GROUP, name, str(error))


def _measure(lab: Lab, *options: str) -> Any:
    argv = argv_of([sys.executable, "-m", "wireproof", "measure", *options])
    argv += ["--lab", lab.name, "--mpi", "mpich", "--json"]
    done = subprocess.run(argv, capture_output=True, timeout=TIMEOUT_S, check=False)
    return json.loads(done.stdout)


def _pair(lab: Lab, folder: Path) -> Path:
    """The folder of ping-pongs between two nodes."""
    sizes = "8,1KiB,4KiB,16KiB,64KiB,256KiB"
    _measure(lab, "pingpong", "--hosts", "n1,n2", "--sizes", sizes, "--out", str(folder))
    return folder


def _screens(setting: Setting, lab: Lab, pair: Path) -> None:
    """The screen's own time, from the first frame to the last, inside of the predicted bounds."""
    for count in (3, 4, 8):
        if time.monotonic() > setting.until:
            setting.skip(GROUP, f"screen of {count} nodes", "no time was left for it")
            continue
        document, _ = check(lab, count, "--hosts", f"n[1-{count}]")
        if document is None:
            setting.skip(GROUP, f"screen of {count} nodes", "the check gave no document")
            continue
        seconds = document["close"]["elapsed_ns"] / 1e9
        bounds = plan_scale(count, 1, run=pair, patterns=("sweep",)).predictions[0].spread_ns
        low, high = bounds.low / 1e9, bounds.high / 1e9
        note = f"{seconds:.1f} s; {low:.1f} to {high:.1f} s predicted"
        title = f"the screen of {count} nodes takes a time that was predicted"
        inside = float(low <= seconds <= high)
        setting.add(certain(GROUP, title, "share", inside, 1.0, sense="at least", note=note))


def _rings(setting: Setting, lab: Lab, pair: Path) -> None:
    """Predicted / measured, by the mean of the members over ``REPEATS`` repeats."""
    for count in (2, 4, 8):
        if time.monotonic() > setting.until:
            setting.skip(GROUP, f"rings of {count} nodes", "no time was left for it")
            continue
        document = _measure(
            lab,
            "ring",
            "--hosts",
            f"n[1-{count}]",
            "--sizes",
            ",".join(map(str, SIZES)),
            "--repeat",
            str(REPEATS),
            "--budget",
            "1500ms",
        )
        for size in SIZES:
            times = [
                group["mean_ns"]
                for group in document["groups"]
                if group["message_bytes"] == size and group["mean_ns"]
            ]
            title = f"ring of {count} nodes, {size} B, predicted / measured"
            if len(times) < REPEATS:
                setting.skip(GROUP, title, f"{len(times)} of {REPEATS} repeats were measured")
                continue
            found = plan_scale(
                count, 1, run=pair, order="natural", size=size, topology="one-switch"
            )
            setting.add(_ratio(title, found.predictions[0].time_ns, times))


def _ratio(title: str, predicted: float, times: list[float]) -> Row:
    return Row(
        group=GROUP,
        title=title,
        unit="ns",
        value=predicted / statistics.median(times),
        low=predicted / max(times),
        high=predicted / min(times),
        ours=predicted,
        theirs=statistics.median(times),
        target=0.05,
        sense="within",
        pairs=len(times),
        note="the interval is that of the repeats",
    )
