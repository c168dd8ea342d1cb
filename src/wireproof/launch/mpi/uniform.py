"""For launchers that take one instruction for all ranks: which variables, how many on each host,
in which order. Pure.
"""

from __future__ import annotations

from collections import Counter
from typing import Literal

from wireproof.launch.mpi.environment import library_path
from wireproof.launch.registry import MPIS
from wireproof.launch.request import LaunchRequest
from wireproof.model.errors import BadInput, CouldNotMeasure

__all__ = ["Order", "one_nic", "per_host", "rank_order", "uniform_environment"]

Order = Literal["block", "cyclic", "other"]


def one_nic(request: LaunchRequest, program: str) -> str:
    """The one NIC of all ranks; ``program`` is the launcher, for the sentence when they differ."""
    nics = request.claimed_nics
    if len(nics) > 1:
        raise BadInput(
            f"{program} sets one NIC for all hosts, not {', '.join(nics[:4])}: start by the MPI's"
            " own launcher."
        )
    return nics[0] if nics else ""


def per_host(request: LaunchRequest, program: str) -> int:
    """Ranks on each host; raises ``BadInput`` when the hosts differ in that."""
    counts = Counter(request.hosts)
    if len(set(counts.values())) > 1:
        raise BadInput(
            f"{program} starts equally many ranks on each host: give each host equally often."
        )
    return next(iter(counts.values()))


def rank_order(request: LaunchRequest) -> Order:
    """How ``hosts`` counts the ranks: host after host (a a b b), in turns (a b a b), or in no such
    order.
    """
    names = tuple(dict.fromkeys(request.hosts))
    each = len(request.hosts) // len(names)
    if request.hosts == tuple(name for name in names for _ in range(each)):
        return "block"
    return "cyclic" if request.hosts == names * each else "other"


def uniform_environment(request: LaunchRequest, nic: str) -> dict[str, str]:
    """What every rank needs in its environment: the MPI's library, its NIC, the user's own
    variables.
    """
    if request.install is None:
        raise CouldNotMeasure("no MPI was chosen to launch with.")
    chosen = MPIS[request.install.family].uniform(request, nic)
    return {**chosen, **library_path(request), **dict(request.extra)}
