"""`check` of labs with a random fault, or none: right, undecided or wrong, alone and beside busy
loops.

Each trial is the command as a user gives it, by its JSON. Half of the labs are good. A wrong answer
is a FAIL of a good lab, a PASS of a faulty lab, or the name of another node or direction; a FAIL
that names no node is undecided.
"""

from __future__ import annotations

import os
import random
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal

from benchmarks.lab_check import add_longest, check
from benchmarks.row import certain
from benchmarks.setting import Setting, add_share
from benchmarks.steady import busy
from wireproof.lab.cluster import up
from wireproof.model.errors import WireproofError
from wireproof.model.topology import Fault, Network, Topology

__all__ = ["run", "score"]

Score = Literal["right", "undecided", "wrong"]
GROUP = "planted links"
COUNTS = (2, 2, 3, 4, 4, 8)
RATES = ("100mbit", "100mbit", "1gbit")
FAULTS = (("rate", 0.5), ("rate", 0.8), ("rate", 0.1), ("loss", 0.02))
TRIALS = 100
BUSY_LOOPS = 13
"""Beside the ranks and the wire: a load of 15."""


def _drawn(seed: int) -> tuple[Topology, Fault | None]:
    draw = random.Random(seed)
    nodes = tuple(f"n{number}" for number in range(1, draw.choice(COUNTS) + 1))
    rate = draw.choice(RATES)
    network = Network(name="hsn", device="hsn0", rate=rate, subnet="10.20.1.0/24")
    topology = Topology(nodes=nodes, networks=(network,), wire="store-and-forward", seed=seed)
    if seed % 2:
        return topology, None
    kind, size = draw.choice(FAULTS)
    speed = f"{(network.rate_bits_per_s or 0) * size / 1e6:g}mbit"
    fault = Fault(
        node=draw.choice(nodes),
        network="hsn",
        kind=kind,
        direction=draw.choice(("tx", "rx")),
        value=f"{size:.0%}" if kind == "loss" else speed,
    )
    return topology, fault


def score(document: Any, topology: Topology, fault: Fault | None) -> Score:
    """What the check's answer is worth. Two nodes cannot tell whose end a fault is at; of more
    nodes a FAIL must name the culprit, and the direction of a low rate if it gives a direction.
    """
    if document is None or document["verdict"] == "inconclusive":
        return "undecided"
    verdict = document["verdict"]
    if fault is None:
        return "right" if verdict == "pass" else "wrong"
    if verdict == "pass":
        return "wrong"
    if len(topology.nodes) == 2:
        named = {one["subject"] for one in document["findings"] if _accuses(one)}
        return "wrong" if named - {_slow_way(topology, fault)} else "right"
    blamed = {
        (blame["subject"], blame.get("direction", ""))
        for one in document["located"]
        for blame in one.get("blames", ())
        if blame["subject"] in topology.nodes
    }
    blamed |= _losing(document, topology)
    ends = ("", fault.direction) if fault.kind == "rate" else ("", "tx", "rx")
    if blamed - {(fault.node, end) for end in ends}:
        return "wrong"
    return "right" if blamed else "undecided"


def _accuses(finding: Any) -> bool:
    ways = ("direction-slow", "packet-loss")
    return bool(finding["severity"] == "fail" and finding["code"] in ways)


def _losing(document: Any, topology: Topology) -> set[tuple[str, str]]:
    """Nodes with the direction that loses packets, by findings that fail for it."""
    subjects = [
        finding["subject"].split()
        for finding in document["findings"]
        if finding["code"] == "packet-loss" and finding["severity"] == "fail"
    ]
    return {
        (words[0], words[1] if len(words) == 2 else "")
        for words in subjects
        if words[0] in topology.nodes and len(words) <= 2
    }


def _slow_way(topology: Topology, fault: Fault) -> str:
    """``n1 -> n2``: the direction that the faulty port slows between two nodes."""
    (other,) = set(topology.nodes) - {fault.node}
    return " -> ".join((fault.node, other) if fault.direction == "tx" else (other, fault.node))


def _told(seed: int, topology: Topology, fault: Fault | None, document: Any) -> str:
    network = topology.networks[0]
    planted = f"{fault.node} {fault.kind} {fault.direction} {fault.value}" if fault else "good"
    found = (document or {}).get("findings", ())
    codes = Counter(one["code"] for one in found if one["severity"] != "note")
    return (
        f"seed {seed}: {len(topology.nodes)} nodes at {network.rate}, {planted}:"
        f" {(document or {}).get('verdict', 'none')} {' '.join(sorted(codes))}"
    )


def _trial(setting: Setting, seed: int, loops: int) -> tuple[Score, float]:
    topology, fault = _drawn(seed)
    with up(topology, f"bench-planted-{os.getpid()}", tied=True) as lab, busy(loops):
        if fault is not None:
            lab.set_fault(fault)
        document, took = check(lab, seed)
    found = score(document, topology, fault)
    load = os.getloadavg()[0]
    told = _told(seed, topology, fault, document)
    setting.say(f"{told}: {found} in {took:.0f} s, load {load:.0f}")
    return found, took


def _tell(setting: Setting, title: str, found: Sequence[Score], target: float) -> None:
    counts = Counter(found)
    wrong = counts["wrong"]
    note = f"{wrong} of {len(found)} labs"
    setting.add(certain(GROUP, f"{title}: wrong", "labs", wrong, 0.0, pairs=len(found), note=note))
    decided = len(found) - counts["undecided"]
    add_share(
        setting, GROUP, f"{title}: decided", decided, len(found), target, "at least", "2 to 8 nodes"
    )


def run(setting: Setting) -> None:
    """Labs of our own, which go with us, by turns alone and beside busy loops, so that a change of
    the machine's load meets both alike.
    """
    found: dict[int, list[Score]] = {0: [], BUSY_LOOPS: []}
    seconds: list[float] = []
    try:
        for seed in range(1, TRIALS + 1):
            for loops, scores in found.items():
                if time.monotonic() >= setting.until:
                    break
                answer, took = _trial(setting, seed, loops)
                scores.append(answer)
                seconds.append(took)
    except WireproofError as error:
        setting.skip(GROUP, "a planted fault", str(error))
    for (loops, scores), target in zip(found.items(), (0.9, 0.6), strict=True):
        if scores:
            title = f"beside {loops} busy loops" if loops else "alone"
            _tell(setting, title, scores, target)
    add_longest(setting, GROUP, seconds, 45.0)
