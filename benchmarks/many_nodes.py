"""`check` in a lab of eight nodes at 100 Mb/s: one port at 80 % in one direction, anywhere, and
none at all.

Each trial is the command as a user gives it, by its JSON. ``--minutes`` bounds the number of
trials; a busy machine makes the links' own noise larger, so the load before is in the table.
"""

from __future__ import annotations

import os
import random
import time
from typing import Any

from benchmarks.lab_check import add_longest, check
from benchmarks.setting import Setting, add_share
from wireproof.lab import Lab, up
from wireproof.model.errors import WireproofError
from wireproof.model.ledger import Direction
from wireproof.model.topology import Fault, Network, Topology

__all__ = ["run"]

GROUP = "many nodes"
NODES = tuple(f"n{number}" for number in range(1, 9))
NETWORK = Network(name="hsn", device="hsn0", rate="100mbit", subnet="10.20.1.0/24")
TRIALS = 100


def _blamed(document: Any) -> list[tuple[str, str]]:
    located = document["located"] if document else []
    return [
        (blame["subject"], blame.get("direction", ""))
        for one in located
        for blame in one.get("blames", [])
    ]


def _planted(seed: int) -> Fault:
    draw = random.Random(seed)
    direction: Direction = draw.choice(("tx", "rx"))
    return Fault(
        node=draw.choice(NODES), network="hsn", kind="rate", direction=direction, value="80mbit"
    )


def _trials(setting: Setting, lab: Lab) -> None:
    """Good and bad by turns, so that a change of the machine's load meets both alike."""
    found = innocent = good = bad = 0
    seconds: list[float] = []
    while bad < TRIALS and time.monotonic() < setting.until:
        seed = bad + 1
        fault = _planted(seed)
        lab.set_fault(fault)
        document, took = check(lab, seed)
        lab.clear_fault(fault)
        seconds.append(took)
        bad += 1
        found += _blamed(document) == [(fault.node, fault.direction)]
        document, took = check(lab, seed)
        seconds.append(took)
        good += 1
        innocent += bool(_blamed(document)) or document is None
    add_share(
        setting,
        GROUP,
        "port at 80 %: it and nobody else",
        found,
        bad,
        0.99,
        "at least",
        "8 nodes at 100 Mb/s, any port",
    )
    add_share(
        setting,
        GROUP,
        "8 good nodes: anybody blamed",
        innocent,
        good,
        0.01,
        "at most",
        "a check that failed counts",
    )
    add_longest(setting, GROUP, seconds, 45.0)


def run(setting: Setting) -> None:
    """The trials, in a lab of our own that goes with us."""
    try:
        with up(
            Topology(nodes=NODES, networks=(NETWORK,)), f"bench-{os.getpid()}", tied=True
        ) as lab:
            _trials(setting, lab)
    except WireproofError as error:
        setting.skip(GROUP, "a port at 80 %", str(error))
