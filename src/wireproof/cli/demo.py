"""``wireproof demo``: a virtual cluster with a bad link and a lie, both caught."""

from __future__ import annotations

import dataclasses
import os
import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from wireproof.lab.cluster import Lab
    from wireproof.model.topology import Topology

__all__ = ["command"]

NODES = ("n1", "n2", "n3", "n4")
SLOW_NODE, SLOW_RATE, SLOW_WORDS = "n3", "300mbit", "300 Mb/s"
SWEEP_BUDGET_MS, LARGE_BUDGET_MS = 150, 800
LARGE_BYTES = 1 << 19
SCREEN_ROUNDS = 6
"""Every pair twice: enough to suspect a node at a third of its rate."""
PAIR_SIZES = (8, 64, 512, 2048, 8192, 32768, 131072, 524288, 1 << 20, 4 << 20)
"""Few sizes with time for each: a curve that is known, not one of many doubtful points."""
PAIR_BUDGET_MS = 350
LIE_SIZES = (8, 1024, 16384, 65536, 262144, 1 << 20, 4 << 20)


def _topology() -> Topology:
    from wireproof.model.topology import Fault, Network, Topology

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


def _cluster(lab: Lab, folder: Path, seed: int) -> tuple[Any, Any]:
    """Rounds of pairs between four nodes, each direction alone."""
    from wireproof.plan.sweep import numbered
    from wireproof.workflow.session.screen_plan import screen_points
    from wireproof.workflow.session.session import Session
    from wireproof.workflow.target.target import lab_target

    place = lab_target(lab, NODES)
    points = screen_points(place, None, seed=seed, rounds=SCREEN_ROUNDS, all_pairs=False)
    wish = Session(
        title="four nodes at 1 Gb/s",
        points=numbered(points, seed=seed),
        seed=seed,
        out=folder / "cluster",
        lead=f"Planted, and not told to the judge: {SLOW_NODE} sends at {SLOW_WORDS}, everything else is healthy.",
    )
    return wish, place


def _pair(lab: Lab, folder: Path, seed: int) -> tuple[Any, Any]:
    """The curves of one healthy pair."""
    from wireproof.plan.sweep import numbered, sweep
    from wireproof.workflow.session.session import Session
    from wireproof.workflow.target.target import lab_target

    points = []
    for sizes, budget_ms in (
        ([size for size in PAIR_SIZES if size < LARGE_BYTES], PAIR_BUDGET_MS),
        ([size for size in PAIR_SIZES if size >= LARGE_BYTES], LARGE_BUDGET_MS),
    ):
        points += sweep("pingpong", sizes, [(0, 1)], budget_ms=budget_ms)
        points += sweep("stream", sizes, [(0, 1)], budget_ms=budget_ms)
    wish = Session(
        title="a healthy pair over the sizes",
        points=numbered(points, seed=seed),
        seed=seed,
        out=folder / "pair",
    )
    return wish, lab_target(lab, NODES[:2])


def _lie(lab: Lab, folder: Path, seed: int) -> tuple[Any, Any]:
    """Two nodes are claimed, but both ranks are started on the first: what a wrong -ppn does on a
    real cluster.
    """
    from wireproof.plan.sweep import numbered, sweep
    from wireproof.workflow.session.session import Session
    from wireproof.workflow.target.target import lab_target

    points = sweep("pingpong", LIE_SIZES, [(0, 1)], budget_ms=SWEEP_BUDGET_MS)
    points += sweep("stream", LIE_SIZES, [(0, 1)], budget_ms=SWEEP_BUDGET_MS)
    wish = Session(
        title="the same link, measured wrongly",
        points=numbered(points, seed=seed),
        seed=seed,
        out=folder / "lie",
        lead="Planted, and not told to the judge: n1 and n2 are claimed, but both ranks were started on n1.",
    )
    place = lab_target(lab, NODES[:2])
    return wish, dataclasses.replace(place, start_on=(NODES[0], NODES[0]))


@click.command("demo")
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="DIR", help="folder for records and report."
)
@click.option("--seed", type=int, help="seed of the order of the points.")
@click.option("--json", "as_json", is_flag=True, help="JSON on stdout.")
def command(out: Path | None, seed: int | None, as_json: bool) -> int:
    """Build a virtual cluster with a bad link and a shared-memory lie; measure it; show that both
    are caught.

    Exit status 0: both were caught. Takes under a minute, needs root or unprivileged user
    namespaces.
    """
    from wireproof.cli.console import Console
    from wireproof.workflow.result_folder import result_folder
    from wireproof.workflow.specification import Storage

    seed = secrets.randbelow(1 << 31) if seed is None else seed
    with result_folder(Storage(folder=out), "demo", Console()) as folder:
        return _run(folder, seed, as_json)


def _run(folder: Path, seed: int, as_json: bool) -> int:
    from wireproof.cli.console import Console, say
    from wireproof.cli.delivery import deliver
    from wireproof.lab.cluster import up
    from wireproof.workflow.result import Part, kept
    from wireproof.workflow.session.run import run_session
    from wireproof.workflow.session.screen import run_screen

    with up(_topology(), f"demo-{os.getpid()}", tied=True) as lab:
        say(
            f"lab {lab.name}: {len(lab.nodes)} nodes at 1 Gb/s; {SLOW_NODE} sends at {SLOW_WORDS}, as nobody knows yet"
        )
        parts = [Part(*run_screen(*_cluster(lab, folder, seed), None, Console()))]
        for build in (_pair, _lie):
            if not parts[-1].ended("interrupted"):
                parts.append(Part(*run_session(*build(lab, folder, seed), Console())))
    result = kept(parts, title="wireproof demo", folder=folder, reporter=Console())
    status = deliver(result, as_json=as_json)
    if status == 130:
        return status
    caught = _caught([section for section, _ in parts])
    for line in caught.values():
        say(line)
    return 0 if all("CAUGHT" in line for line in caught.values()) else 1


def _caught(sections: list[Any]) -> dict[str, str]:
    """Were the two planted things found? Read from the findings alone, which know nothing of what
    was planted.
    """
    slow = [one for one in sections[0].judgement.findings if one.code in ("port-slow", "node-slow")]
    named = [one.subject for one in slow] == [f"{SLOW_NODE} tx"]
    lie = sections[2].judgement if len(sections) > 2 else None
    return {
        "link": f"bad node and direction: {'CAUGHT, ' + slow[0].message if named else 'MISSED'}",
        "lie": f"shared memory sold as a wire: {'CAUGHT' if lie and lie.proof == 'off-wire' else 'MISSED'}",
    }
