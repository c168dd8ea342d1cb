"""Rules for configuration files: modprobe.d, sysctl.d, limits.d, interfaces, irqbalance, the
kernel's command line, package repositories, mounts and host names. They also find such lines in
scripts (here-documents, echoes) and in documents.
"""

from __future__ import annotations

from wireproof.lint.files import drop_in, irqbalance, limits, mounts, repository
from wireproof.lint.files.interfaces import hosts, ifcfg, keyfile
from wireproof.lint.files.kernel import command_line, modprobe, sysctl
from wireproof.lint.rule import Check

__all__ = ["CHECKS"]

PARTS = (
    modprobe,
    sysctl,
    limits,
    ifcfg,
    keyfile,
    irqbalance,
    command_line,
    repository,
    mounts,
    hosts,
    drop_in,
)
CHECKS: tuple[Check, ...] = tuple(part.check for part in PARTS)
