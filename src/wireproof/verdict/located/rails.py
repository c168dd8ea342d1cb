"""A slow node with rails: which of them it is, bytes alone do not say where they are shared evenly.
Pure.
"""

from __future__ import annotations

import msgspec

from wireproof.model.claim import Claim
from wireproof.model.finding import Finding, Judgement
from wireproof.model.rails import is_several
from wireproof.model.subject import Node, Port
from wireproof.verdict.issue import Issue, merge

__all__ = ["with_rail_notes"]

_SLOW = ("node-slow", "port-slow")


def with_rail_notes(judgement: Judgement, claim: Claim) -> Judgement:
    """``judgement`` with a finding for each slow node of which several NICs are claimed, and whose
    slow rail nothing names yet: how it is found.
    """
    nics = {one.host: one.nic for one in claim.hosts if is_several(one.nic)}
    if not nics:
        return judgement
    named = {_node(one) for one in judgement.findings if one.code == "slow-rail"}
    slow = {_node(one): one for one in judgement.findings if one.code in _SLOW}
    well = next((host for host in nics if host not in slow), "PARTNER")
    issues = [
        _note(node, nics[node], well, finding)
        for node, finding in slow.items()
        if node in nics and node not in named
    ]
    return msgspec.structs.replace(judgement, findings=[*judgement.findings, *merge(issues)])


def _node(finding: Finding) -> str:
    match finding.about:
        case Node(name=name):
            return name
        case Port(node=node):
            return node
    return finding.subject


def _note(node: str, nics: str, partner: str, finding: Finding) -> Issue:
    receives = isinstance(finding.about, Port) and finding.about.direction == "rx"
    ends = f"{partner},{node}" if receives else f"{node},{partner}"
    command = f"wireproof measure stream --hosts {ends} --nic {nics} --gain"
    text = (
        f"{node}: its rails {nics} carried their shares, so that the bytes do not say which of them"
        f" is slow; each alone does: {command}"
    )
    return Issue("rail-not-told", "inconclusive", Node(node), text, {"command": command})
