"""Nodes that a scheduler may give to others are not touched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from wireproof.launch.schedulers.slurm_nodes import Slurm, slurm_of
from wireproof.workflow.target.target import Target

__all__ = ["refusals"]


def refusals(
    target: Target, hosts: Sequence[str], environment: Mapping[str, str]
) -> dict[str, str]:
    """Why a host may not be changed, one sentence each; hosts that may be are not in it."""
    if not hosts:
        return {}
    slurm: Slurm | None = slurm_of(hosts, environment, target.through())
    return slurm.refusals(hosts) if slurm is not None else {}
