"""How a wish's ranks are started: the MPI, the commands that can start it, best first, and the one that does."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING

from wireproof.cli.place import Place
from wireproof.instrument.measure import Outcome
from wireproof.launch.command import build_command, prepare, request_for
from wireproof.launch.find import choose_mpi
from wireproof.launch.install import MpiInstall
from wireproof.launch.request import LaunchCommand

if TYPE_CHECKING:
    from wireproof.cli.session import Wish

__all__ = ["Way", "install_for", "started", "ways_of"]


@dataclasses.dataclass(frozen=True)
class Way:
    """One command that can start the ranks; ``why`` this one, where there was a choice."""

    command: LaunchCommand
    why: str = ""


def install_for(wish: Wish) -> MpiInstall | None:
    """The MPI that starts the ranks; None where none is needed."""
    if wish.transport == "mpi":
        return choose_mpi(wish.mpi)
    # Any Hydra starts plain processes; the embedded one is always there.
    return choose_mpi("mpich") if wish.transport == "tcp" else None


def ways_of(wish: Wish, place: Place, install: MpiInstall | None) -> list[Way]:
    """The commands that can start ``wish`` on ``place``, best first. Raises ``BadInput`` when there is none."""
    wishes: dict[str, object] = {
        "hosts": place.start_on,
        "ranks": place.ranks,
        "nics": place.nics,
        "agent": place.agent,
        "nic_selection": wish.nic_selection,
        "fabric": wish.fabric,
        "machine_ranks": place.machine_ranks,
        "meet": place.meet() if wish.transport == "tcp" else "",
        "extra": wish.extra,
        "prefix": place.prefix,
    }
    if place.allocation is None:
        return [Way(place.enter(prepare(wish.transport, install, **wishes)))]
    wishes |= {"scheduler": place.allocation.scheduler, "job": place.allocation.job, "starter": place.starter}
    if place.allocation.scheduler != "slurm":
        return [Way(place.enter(prepare(wish.transport, install, **wishes)))]
    from wireproof.launch.slurm_found import slurm_requests

    request = request_for(wish.transport, install, **wishes)
    found = slurm_requests(request, job_hosts=place.allocation.hosts, through=place.through())
    return [Way(_noted(place.enter(build_command(wish.transport, one)), why), why) for one, why in found]


def _noted(command: LaunchCommand, why: str) -> LaunchCommand:
    return dataclasses.replace(command, notes=(why, *command.notes))


def started(ways: list[Way], run: Callable[[Way, bool], Outcome], say: Callable[[str], None]) -> Outcome:
    """The outcome of the first way that starts. ``run`` is told whether the folder was begun by a way before."""
    for number, way in enumerate(ways):
        outcome = run(way, number > 0)
        left = ways[number + 1 :]
        if outcome.ending.ended != "not-started" or not left:
            return outcome
        say(f"{outcome.ending.reason}; trying another way: {left[0].why}")
    raise AssertionError("there is always a way")
