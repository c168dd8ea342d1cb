"""A virtual cluster with two injected faults, a slow node and a measurement of memory instead of a
wire, both of which must be found.
"""

import dataclasses
import os
import secrets
from collections.abc import Sequence
from pathlib import Path

from wireproof.lab.cluster import Lab, up
from wireproof.measure.points import numbered, sweep
from wireproof.measure.result import MeasuredPart, Result, keep_result
from wireproof.measure.resume import result_folder
from wireproof.measure.session import Session, Storage
from wireproof.measure.session.again import run_screen, run_settled
from wireproof.measure.session.run import run_session
from wireproof.measure.session.screen_plan import screen_points
from wireproof.model.finding import Finding, Port
from wireproof.model.pattern import PairPattern
from wireproof.model.plan import Point
from wireproof.model.topology import Fault, Network, Topology
from wireproof.report.reporter import Reporter
from wireproof.target import Target, lab_target

NODES = ("n1", "n2", "n3", "n4")
SLOW_NODE, SLOW_RATE, SLOW_RATE_TEXT = "n3", "300mbit", "300 Mb/s"
LIE_BUDGET_MS, LARGE_BUDGET_MS = 150, 800
LARGE_BYTES = 1 << 19
SCREEN_ROUNDS = 6
"""Each pair is measured twice, which is enough to detect a node at a third of its rate."""
PING_SIZES = (8, 64, 512, 2048, 8192, 32768, 131072, 524288, 1 << 20)
STREAM_SIZES = (512, 2048, 8192, 32768, 131072, 524288, 1 << 20, 4 << 20)
"""A few sizes, with enough time for each, so that no point of the curve is doubtful. Streams of
smaller messages would show the cores, which four nodes share; a round trip of 4 MiB takes 70 ms.
"""
PING_BUDGET_MS, STREAM_BUDGET_MS = 1000, 350
"""Budgets of the small sizes. A ping-pong needs enough messages to stand out in the counters; a
quiet machine sends them in 50 ms.
"""
LIE_SIZES = (8, 1024, 16384, 65536, 262144, 1 << 20, 4 << 20)
INJECTED = "Injected fault, hidden from the verdict:"


def demo(storage: Storage, seed: int | None, reporter: Reporter) -> tuple[Result, dict[str, str]]:
    """Build the cluster, measure it, and look for the injected faults: return what was found of
    each, "" if it was missed.

    Takes less than a minute; needs root or unprivileged user namespaces.
    """
    seed = secrets.randbelow(1 << 31) if seed is None else seed
    with (
        result_folder(storage, "demo", reporter) as folder,
        up(_topology(), f"demo-{os.getpid()}", tied=True) as lab,
    ):
        reporter.say(
            f"lab {lab.name}: {len(lab.nodes)} nodes at 1 Gb/s; {SLOW_NODE} sends at only"
            f" {SLOW_RATE_TEXT}, and the check must detect this"
        )
        parts = [MeasuredPart(*run_screen(*_cluster(lab, folder, seed), None, reporter))]
        for build, run in ((_pair, run_settled), (_lie, run_session)):
            if not parts[-1].ended("interrupted"):
                parts.append(MeasuredPart(*run(*build(lab, folder, seed), reporter)))
        result = keep_result(
            parts,
            title="wireproof demo",
            folder=folder,
            storage=storage,
            reporter=reporter,
        )
    lie = parts[2].section.judgement.proof if len(parts) > 2 else ""
    return result, {
        "one node sends at a third of its rate": _slow_node(parts[0].section.judgement.findings),
        "shared memory measured instead of the wire": lie if lie == "off-wire" else "",
    }


def _topology() -> Topology:
    return Topology(
        nodes=NODES,
        networks=(
            Network(name="hsn", device="hsn0", rate="1gbit", mtu=1500, subnet="10.20.1.0/24"),
        ),
        wire="store-and-forward",
        faults=(
            Fault(node=SLOW_NODE, network="hsn", kind="rate", direction="tx", value=SLOW_RATE),
        ),
    )


def _cluster(lab: Lab, folder: Path, seed: int) -> tuple[Session, Target]:
    """Return rounds of pairs between four nodes, with one direction at a time."""
    target = lab_target(lab, NODES)
    points = screen_points(target, None, seed=seed, rounds=SCREEN_ROUNDS, all_pairs=False)
    session = Session(
        title="four nodes at 1 Gb/s",
        points=numbered(points, seed=seed),
        seed=seed,
        out=folder / "cluster",
        lead=f"{INJECTED} {SLOW_NODE} sends at {SLOW_RATE_TEXT}; everything else is healthy.",
    )
    return session, target


def _pair(lab: Lab, folder: Path, seed: int) -> tuple[Session, Target]:
    points = [
        *_curve("pingpong", PING_SIZES, PING_BUDGET_MS),
        *_curve("stream", STREAM_SIZES, STREAM_BUDGET_MS),
    ]
    session = Session(
        title="a healthy pair over the sizes",
        points=numbered(points, seed=seed),
        seed=seed,
        out=folder / "pair",
    )
    return session, lab_target(lab, NODES[:2])


def _curve(pattern: PairPattern, sizes: Sequence[int], small_ms: int) -> list[Point]:
    """Return the points of a curve; large messages get a larger budget."""
    return [
        point
        for size in sizes
        for point in sweep(
            pattern,
            [size],
            [(0, 1)],
            budget_ms=LARGE_BUDGET_MS if size >= LARGE_BYTES else small_ms,
        )
    ]


def _lie(lab: Lab, folder: Path, seed: int) -> tuple[Session, Target]:
    """Return a session that claims two nodes but starts both ranks on the first node, as a wrong
    -ppn does on a real cluster.
    """
    points = sweep("pingpong", LIE_SIZES, [(0, 1)], budget_ms=LIE_BUDGET_MS)
    points += sweep("stream", LIE_SIZES, [(0, 1)], budget_ms=LIE_BUDGET_MS)
    session = Session(
        title="the same link, measured wrongly",
        points=numbered(points, seed=seed),
        seed=seed,
        out=folder / "lie",
        lead=f"{INJECTED} n1 and n2 are claimed, but both ranks run on n1.",
    )
    return session, dataclasses.replace(lab_target(lab, NODES[:2]), start_on=(NODES[0], NODES[0]))


def _slow_node(findings: list[Finding]) -> str:
    """Return the message of the only finding about the slow port.

    The code that makes the findings does not know which faults were injected.
    """
    slow = [finding for finding in findings if finding.code in ("port-slow", "node-slow")]
    named = [finding.about for finding in slow] == [Port(SLOW_NODE, "tx")]
    return slow[0].message if named else ""
