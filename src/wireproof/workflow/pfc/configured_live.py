"""The settings of the ports of many hosts, asked for by the engine's ``facts`` on each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from wireproof.analysis.pfc.ports import ports_of
from wireproof.instrument.facts import Collected, collect
from wireproof.model.pfc import PfcSettings
from wireproof.model.record import FactFrame, Nic
from wireproof.model.traffic import Watched
from wireproof.workflow.audit import reader_argv
from wireproof.workflow.pfc.configured import commands_of, settings_of
from wireproof.workflow.target.target import Target

__all__ = ["settings_on"]


def settings_on(
    target: Target, watched: Sequence[Watched], named: Mapping[str, str]
) -> list[PfcSettings]:
    """Of each port that is looked at; hosts with the same ports are asked together."""
    argv_of = reader_argv(target)
    groups: dict[tuple[str, ...], list[tuple[str, list[Nic]]]] = defaultdict(list)
    for one in watched:
        if one.about is not None and one.host in argv_of:
            names = ports_of(one.about.nics, named.get(one.host, ""))
            ports = [each for each in one.about.nics if each.name in names]
            groups[tuple(each.name for each in ports)].append((one.host, ports))
    found: list[PfcSettings] = []
    for members in groups.values():
        wanted = [request for port in members[0][1] for request in commands_of(port)]
        if not wanted:
            continue
        answers = collect({host: argv_of[host] for host, _ in members}, wanted)
        for (host, ports), answer in zip(members, answers, strict=True):
            texts = _texts(answer)
            found += [settings_of(host, port, texts) for port in ports]
    return found


def _texts(answer: Collected) -> dict[str, str]:
    return {_place(one): one.text for one in answer.frames if one.status == "ok"}


def _place(frame: FactFrame) -> str:
    return " ".join(frame.argv) if frame.kind == "command" else frame.path
