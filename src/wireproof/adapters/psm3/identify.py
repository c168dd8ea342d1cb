"""``PSM3_IDENTIFY`` and ``PSM3_VERBOSE_ENV``: which library a process has loaded, the NICs of its
endpoints, and the settings that it took. The lines of several ranks may be mixed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from wireproof.adapters.psm3.lines import StatisticsLine, kept
from wireproof.model.psm3 import Identity, LibrarySetting, Rail

__all__ = ["identities", "identities_of", "settings", "settings_of"]

_TAGGED = re.compile(r"(?:^|\s)(?P<label>\S{1,320}) PSM[23]_IDENTIFY (?P<rest>.*)$", re.A)
_VERSION = re.compile(
    r"PSM[23]? v(?P<version>[\w.-]{1,40})(?: built for (?P<build>.{1,100}))?", re.A
)
_HAL = re.compile(r"HAL: (?P<hal>\w{1,40})(?: \((?P<flavour>[^)]{1,80})\))?", re.A)
_RANK = re.compile(
    r"Global Rank (?P<rank>-?\d{1,9}) \((?P<ranks>-?\d{1,9}) total\)"
    r" Local Rank (?P<local>-?\d{1,9}) \((?P<locals>-?\d{1,9}) total\)",
    re.A,
)
_PID = re.compile(r"CPU Core -?\d+ NUMA -?\d+ PID (?P<pid>\d{1,10})", re.A)
_RAIL = re.compile(
    r"NIC (?P<unit>\d{1,6}) \((?P<name>[^)\s]{1,80})\) Port (?P<port>\d{1,6})"
    r" (?P<mbps>\d{1,9}) Mbps NUMA (?P<numa>-?\d{1,6})(?P<rest>.*)$",
    re.A,
)
_PORT = re.compile(r"\b(TCP|UDP|QP|UDQP|PID)=(\d{1,10})", re.A)
_ADDRESS = re.compile(r"\b(?:IP|GID)=(\S{1,120})", re.A)
_VERBOSE = re.compile(
    r"(?:^|\s)(?P<label>\S{1,320}): env (?P<star>[ *]?)(?P<name>[A-Z0-9_]{1,80})\s+=> "
    r"(?P<value>.*?)"
    r"(?: \(default was (?P<default>.*)\))?$",
    re.A,
)
_INVALID = re.compile(
    r"(?:(?:^|\s)(?P<label>\S{1,320}): env Invalid value for (?P<name>[A-Z0-9_]{1,80})"
    r"|^(?P<plain>[A-Z0-9_]{1,80})=Invalid value) "
    r"?\('(?P<refused>.{0,200}?)'\).{0,80}? Using: (?P<value>.*)$",
    re.A,
)
_MOST_RAILS = 64


def _whole(text: str) -> int | None:
    """A rank; the library prints -1 for what nobody told it."""
    value = int(text)
    return value if value >= 0 else None


def _rail(rest: str, number: int) -> Rail | None:
    found = _RAIL.match(rest)
    if found is None:
        return None
    tail = found["rest"]
    address = _ADDRESS.search(tail)
    words = tail.split()
    return Rail(
        unit=int(found["unit"]),
        name=found["name"],
        port=int(found["port"]),
        mbps=int(found["mbps"]),
        numa_node=int(found["numa"]),
        address=address[1] if address else "",
        ports={name: int(value) for name, value in _PORT.findall(tail)},
        line=number,
        loopback="loopback" in words,
        srq="SRQ" in words,
    )


def _of_rank(rest: str) -> dict[str, Any]:
    found = _RANK.match(rest)
    if found is None:
        return {}
    return {
        "rank": _whole(found["rank"]),
        "ranks": _whole(found["ranks"]),
        "local_rank": _whole(found["local"]),
        "local_ranks": _whole(found["locals"]),
    }


def _facts(rest: str) -> dict[str, Any]:
    """The fields of Identity that one line fills."""
    if rest.startswith("location "):
        return {"location": rest[9:].strip()}
    if found := _VERSION.match(rest):
        return {"version": found["version"], "build": (found["build"] or "").strip()}
    if found := _HAL.match(rest):
        return {"hal": found["hal"], "flavour": found["flavour"] or ""}
    if found := _PID.match(rest):
        return {"pid": int(found["pid"])}
    if rest.startswith("EP: "):
        return {"path": rest[4:].strip()[:20]}
    return _of_rank(rest)


def identities_of(lines: Iterable[StatisticsLine]) -> list[Identity]:
    """One for each process that identifies itself, in the order of their first lines."""
    facts: dict[str, dict[str, Any]] = {}
    warnings: dict[int, str] = {}
    for line in lines:
        if line.shape == "warning":
            warnings[line.number] = line.text[line.text.index("WARNING:") :][:200]
        found = _TAGGED.search(line.text) if line.shape == "identify" else None
        if found is None:
            continue
        one = facts.setdefault(found["label"], {"rails": [], "lines": {}})
        rail = _rail(found["rest"], line.number)
        if rail is not None:
            if len(one["rails"]) < _MOST_RAILS:
                one["rails"].append(rail)
            continue
        new = _facts(found["rest"])
        one.update(new)
        one["lines"].update(dict.fromkeys(new, line.number))
    return [
        Identity(label=label, host=label.partition(":")[0], warnings=warnings, **one)
        for label, one in facts.items()
    ]


def _unquoted(text: str) -> str:
    text = text.strip()
    return text[1:-1] if len(text) >= 2 and text[0] == text[-1] == "'" else text


def _setting(line: StatisticsLine) -> LibrarySetting | None:
    if found := _INVALID.search(line.text):
        return LibrarySetting(
            name=found["name"] or found["plain"],
            value=_unquoted(found["value"]),
            kind="taken",
            line=line.number,
            refused=found["refused"] or "(empty)",
            who=found["label"] or "",
        )
    if line.shape == "environment":
        return _verbose(line)
    name, _, value = line.text.partition("=")
    return LibrarySetting(name=name, value=_unquoted(value), kind="given", line=line.number)


def _verbose(line: StatisticsLine) -> LibrarySetting | None:
    found = _VERBOSE.search(line.text)
    if found is None:
        return None
    default = found["default"]
    return LibrarySetting(
        name=found["name"],
        value=_unquoted(found["value"]),
        kind="taken",
        line=line.number,
        default=None if default is None else _unquoted(default),
        forced=found["star"] == "*",
        who=found["label"],
    )


def settings_of(lines: Iterable[StatisticsLine]) -> Iterator[LibrarySetting]:
    """Every setting that a line states; one may be stated again for each endpoint."""
    for line in lines:
        if line.shape in ("setting", "environment"):
            found = _setting(line)
            if found is not None:
                yield found


def identities(text: str) -> list[Identity]:
    """The processes that ``text`` (standard output or error of ranks) identifies."""
    return identities_of(kept(text.split("\n")))


def settings(text: str) -> list[LibrarySetting]:
    """The settings that ``text`` states, with ``PSM3_VERBOSE_ENV`` or in a statistics file. What
    looks secret is masked.
    """
    return list(settings_of(kept(text.split("\n"))))
