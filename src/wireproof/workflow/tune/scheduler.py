"""Nodes that a scheduler may give to others are not touched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from wireproof.instrument.facts import collect
from wireproof.launch.schedulers.slurm_nodes import CONFIGURATION, slurm_of
from wireproof.model.plan import FactRequest
from wireproof.workflow.audit import reader_argv
from wireproof.workflow.target.target import Target

__all__ = ["refusals"]


def refusals(
    target: Target, hosts: Sequence[str], environment: Mapping[str, str]
) -> dict[str, str]:
    """Why a host may not be changed, one sentence each; hosts that may be are not in it."""
    if not hosts:
        return {}
    slurm = slurm_of(environment, target.through())
    return slurm.refusals(hosts) if slurm is not None else _configured(target, hosts)


def _configured(target: Target, hosts: Sequence[str]) -> dict[str, str]:
    """No Slurm answers here: hosts that have its configuration are refused."""
    if target.lab is not None:
        return {}
    argv_of = reader_argv(target)
    wanted = [FactRequest(kind="file", path=path) for path in CONFIGURATION]
    answers = collect({host: argv_of[host] for host in hosts}, wanted)
    why = "it is configured for Slurm, which does not answer here and say who has it"
    return {one.host: why for one in answers if any(each.status == "ok" for each in one.frames)}
