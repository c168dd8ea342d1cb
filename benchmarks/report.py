"""The report of many nodes: time of judging and rendering it, and the size of its page.

The run is made up: every direction of a round of disjoint pairs is one copy of a synthetic pair,
with the counters of its hosts, as a check of so many nodes records them.
"""

from __future__ import annotations

import time

import msgspec
from tests.synthetic import World, link_of, run_of

from benchmarks.row import certain
from benchmarks.setting import Setting
from wireproof.measure.export import page_of
from wireproof.measure.schedule import screen_rounds
from wireproof.model.claim import Criteria, HostClaim, Limits
from wireproof.model.record import PointRecord
from wireproof.model.run import Run
from wireproof.physics import limits
from wireproof.report.judged_run import JudgedRun
from wireproof.verdict.run import judge

__all__ = ["many_run", "run"]

GROUP = "report"
CASES = ((64, 63, 5.0, 3.0), (1024, 12, 20.0, 10.0))
"""Nodes, rounds, and what the page may take: s and MB."""


def many_run(nodes: int, rounds: int) -> Run:
    """Streams both ways over rounds of disjoint pairs of ``nodes``."""
    plain = run_of(World(nodes=2, sizes=(1 << 20,), patterns=("stream",)))
    points: list[PointRecord] = []
    for number, pairs in enumerate(screen_rounds(nodes, None, 1, rounds)):
        for way in (0, 1):
            ends = [(a, b)[:: 1 - 2 * way] for a, b in pairs]
            points.append(_point(plain.points[0], 2 * number + way, ends))
    host, idle = plain.hosts[0], plain.idle[0]
    names = [f"n{rank + 1}" for rank in range(nodes)]
    return msgspec.structs.replace(
        plain,
        claim=msgspec.structs.replace(
            plain.claim,
            hosts=[HostClaim(rank=r, host=name, nic="hsn0") for r, name in enumerate(names)],
        ),
        hosts=[
            msgspec.structs.replace(host, rank=r, host=name, hostname=name, boot_id=f"boot-{r}")
            for r, name in enumerate(names)
        ],
        idle=[msgspec.structs.replace(idle, rank=rank) for rank in range(nodes)],
        points=points,
    )


def _point(plain: PointRecord, number: int, ends: list[tuple[int, int]]) -> PointRecord:
    """The pair of ``plain`` and the readings of its hosts, once for each of ``ends``."""
    (pair,), readings = plain.pairs, {one.rank: one for one in plain.witness}
    return msgspec.structs.replace(
        plain,
        id=number,
        pairs=[msgspec.structs.replace(pair, origin=a, target=b) for a, b in ends],
        witness=[
            msgspec.structs.replace(readings[role], rank=rank)
            for pair_of in ends
            for role, rank in enumerate(pair_of)
        ],
    )


def _limits() -> Limits:
    return limits(link_of(World()), "stream", "stream", 1 << 20)


def run(setting: Setting) -> None:
    """Adds two rows for each number of nodes: time to judge and render, and the page's size."""
    for nodes, rounds, most_s, most_mb in CASES:
        measured = many_run(nodes, rounds)
        setting.say(f"report: {nodes} nodes, {rounds} rounds")
        begun = time.monotonic()
        judgement = judge(measured, Criteria())
        judged = time.monotonic()
        section = JudgedRun(f"check of {nodes} hosts", measured, judgement, _limits())
        page = page_of([section], "benchmark")
        ended = time.monotonic()
        note = f"{len(judgement.pairs)} results; judged in {judged - begun:.1f} s; one run"
        title = f"{nodes} nodes"
        setting.add(certain(GROUP, title, "s", ended - begun, most_s, note=note))
        setting.add(certain(GROUP, title, "MB", len(page.encode()) / 1e6, most_mb, note="the page"))
