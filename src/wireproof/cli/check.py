"""``wireproof check``: measure, prove, judge, locate, report."""

from __future__ import annotations

import dataclasses
import secrets
from pathlib import Path
from typing import Any, cast

import click

from wireproof.cli.measure import policy_of
from wireproof.cli.options import link_options, output_options, place_options, settings_of
from wireproof.cli.place import Place, place_of, this_machine
from wireproof.model.plan import Point
from wireproof.settings.resolve import Settings

__all__ = ["command"]

QUICK_PINGPONG = (0, 8, 1024, 16384, 65536, 262144, 1 << 20)
QUICK_STREAM = (8, 4096, 65536, 262144, 1 << 20, 4 << 20)
LAUNCHES = {"quick": 1, "standard": 3, "acceptance": 10}
"""Independent launches are a factor of their own (Hunold and Carpen-Amarie 2016): inner repetitions do not show it."""


def _points(place: Place, profile: str) -> list[Point]:
    """One machine: sweeps. Two hosts: streams each way. More: every pair in rounds; beyond quick one pair's sweeps."""
    from wireproof.plan.sweep import SIZES, screen, sweep

    pingpongs, streams = (QUICK_PINGPONG, QUICK_STREAM) if profile == "quick" else (SIZES, SIZES)
    sweeps = sweep("pingpong", pingpongs, [(0, 1)]) + sweep("stream", streams, [(0, 1)])
    if not place.hosts:
        return sweeps
    sweeps += sweep("stream", streams, [(1, 0)])
    if place.size == 2:
        return sweeps
    return screen(place.size) + ([] if profile == "quick" else sweeps)


def _wish(settings: Settings, options: dict[str, Any], place: Place, folder: Path) -> Any:
    from wireproof.cli.physics import read_table
    from wireproof.cli.session import Wish
    from wireproof.plan.sweep import numbered
    from wireproof.probes.snapshot import quick

    profile = settings.profile.value
    seed = settings.seed.value if settings.seed.value is not None else secrets.randbelow(1 << 31)
    return Wish(
        title=f"check of {place.size} hosts" if place.hosts else "check of this machine",
        points=numbered(_points(place, profile), seed=seed, repeats=settings.repeat.value),
        seed=seed,
        transport=cast(Any, settings.transport.value),
        mpi=settings.mpi.value,
        fabric=cast(Any, settings.fabric.value),
        nic_selection=cast(Any, settings.nic_selection.value),
        policy=policy_of(settings),
        facts=quick(),
        out=folder / "run",
        resume=options["resume"],
        deadline_s=settings.deadline.value,
        table=read_table(options["physics"]),
        launches=LAUNCHES[profile],
    )


def _alone(wish: Any) -> list[tuple[Any, Place]]:
    """One plain machine: shared memory through the MPI, and loopback through the kernel. Neither is a wire."""
    from wireproof.physics.links import link_from_name

    shm = dataclasses.replace(
        wish,
        title="shared memory of this machine",
        lead="Two ranks on one machine: this is what memory does, so that a wire can be told from it.",
    )
    loopback = dataclasses.replace(
        wish,
        title="loopback of this machine",
        transport="tcp",
        out=wish.out.with_name("loopback"),
        lead="Kernel sockets over the loopback interface: the floor under every MPI over IP.",
    )
    return [
        (shm, this_machine(link_from_name("shm", source="one machine"))),
        (loopback, this_machine(link_from_name("loopback", source="one machine"))),
    ]


@click.command("check")
@click.option("--profile", metavar="quick|standard|acceptance", help="how much is measured; default quick.")
@click.option("--repeat", metavar="N", help="how often each point is measured in a launch; default 1.")
@place_options
@link_options
@output_options
def command(**options: Any) -> int:
    """Measure, prove, judge and report.

    With --hosts: do they reach what their link can do, in each direction, and did the bytes use that link?
    Without: what works on this machine alone; no wire can be proven then (exit status 3).
    """
    from wireproof.cli.delivery import deliver, result_folder, say
    from wireproof.cli.session import run_session

    settings = settings_of(options)
    place = place_of(settings, lab=options["lab"], mtu=options["mtu"], pcie=options["pcie"])
    for line in place.said:
        say(line)
    with result_folder(settings.out.value, "check", resume=options["resume"]) as folder:
        wish = _wish(settings, options, place, folder)
        parts = []
        for one, where in [(wish, place)] if place.hosts else _alone(wish):
            parts.append(run_session(one, where))
            if parts[-1][1][-1].ending.ended == "interrupted":
                break
        return deliver(parts, title="wireproof check", folder=folder, as_json=settings.json.value)
