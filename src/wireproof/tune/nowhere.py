"""Whether what is asked for by name is there on any host at all. Pure."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from wireproof.audit.catalogue import Catalogue
from wireproof.audit.judge import instances_of
from wireproof.audit.machine import Machine
from wireproof.tune.named import Named

__all__ = ["nowhere"]

_SHOWN = 8


def nowhere(machines: Sequence[Machine], known: Catalogue, asked: Sequence[Named]) -> str:
    """A sentence for the first file or instance that every host is known not to have; "" when there
    is none. What some of the hosts have is no mistake.
    """
    for one in asked:
        if one.path and all(machine.facts.file(one.path).absent for machine in machines):
            return f"no host has the file {one.path}."
        if one.instance and (wrong := _no_instance(machines, known, one)):
            return wrong
    return ""


def _no_instance(machines: Sequence[Machine], known: Catalogue, one: Named) -> str:
    entry = known.get(one.name)
    labels = {
        "/".join(instance.label.split()): instance.label
        for machine in machines
        for instance in instances_of(machine, entry)
    }
    if any(one.is_of(one.name, label) for label in labels.values()):
        return ""
    there = sorted(filter(None, labels))
    near = difflib.get_close_matches(one.instance, there, n=3) or there[:_SHOWN]
    if near:
        return f"no host has {one.title}; there is {', '.join(f'{one.name}/{x}' for x in near)}."
    if labels:
        return f"no host has {one.title}: {one.name} is of the host as a whole."
    return f"no host has {one.title}, nor another {one.name}."
