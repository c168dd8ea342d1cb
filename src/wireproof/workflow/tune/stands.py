"""Which changes of ours stand on the hosts of a measurement."""

from __future__ import annotations

import msgspec

from wireproof.model.errors import WireproofError
from wireproof.model.tuning import Standing
from wireproof.tune.stands import standing_of
from wireproof.workflow.audit import hosts_of
from wireproof.workflow.target.target import Target
from wireproof.workflow.tune.node import set_status

__all__ = ["standing_on"]

_MOST_HOSTS = 256
"""Each host is asked by a program of its own, as for its settings."""


def standing_on(target: Target) -> Standing | None:
    """What the journals of the target's hosts say now; None where nobody asked: of more than 256
    hosts, and of a machine that is files only. What cannot be read is told, and costs no result.
    """
    hosts = hosts_of(target)
    if len(hosts) > _MOST_HOSTS or target.sysfs_root:
        return None
    try:
        found = standing_of(set_status(target, hosts))
    except WireproofError as error:
        found = Standing(hosts=list(hosts), unread={str(error): list(hosts)})
    lab = target.lab.name if target.lab is not None else ""
    return msgspec.structs.replace(found, here=not target.hosts, lab=lab)
