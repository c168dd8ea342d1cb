"""UCX: ``UCX_LOG_LEVEL=info`` (1.13 compared; the forms of 1.14 and later are ucp_worker.c's) and
``ucx_info -c``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from wireproof.adapters.readback.seen import once, seen_at
from wireproof.model.psm3 import Seen

__all__ = ["ucx_readback"]

_WHO = re.compile(r"^\s*\[[\d.]{1,40}\] \[(?P<who>[^\]\s]{1,120})\]", re.A)
_VERSION = re.compile(
    r"UCX  INFO +Version (?P<version>\S{1,40}) \(loaded from (?P<path>[^)]{1,300})\)"
)
_ENVIRONMENT = re.compile(r"UCX  INFO +UCX_\* env(?:ironment)? variables?: (?P<all>.{1,4000})$")
_UNUSED = re.compile(r"UCX  WARN +unused env(?:ironment)? variables?: (?P<all>[^(]{1,2000})")
_LANES = re.compile(
    r"UCX  INFO .*?cfg(?:\[|#)(?P<number>\d{1,6})\]?:? (?P<lanes>[a-z_]+\(.{1,2000})$"
)
_LANE = re.compile(r"(?P<transport>[a-z][a-z0-9_]{1,20})/(?P<device>[^\s()/]{1,60})")
_CONFIGURED = re.compile(r"^(?P<name>UCX_[A-Z0-9_]{1,80})=(?P<value>.{0,400})$")


def ucx_readback(text: str) -> list[Seen]:
    """Settings seen. ``UCX_TLS`` and ``UCX_NET_DEVICES`` are what endpoints were made of
    (``observed``); lines of ``ucx_info -c`` are what the configuration would be (``taken``).
    """
    found: list[Seen] = []
    transports: dict[str, tuple[int, str]] = {}
    devices: dict[str, tuple[int, str]] = {}
    for where in enumerate(text.split("\n"), 1):
        found += _of_line(where)
        if lanes := _LANES.search(where[1]):
            for lane in _LANE.finditer(lanes["lanes"]):
                transports.setdefault(lane["transport"], where)
                devices.setdefault(lane["device"], where)
    for setting, names in (("UCX_TLS", transports), ("UCX_NET_DEVICES", devices)):
        if names:
            first = next(iter(names.values()))
            value = ",".join(sorted(names))
            found.append(seen_at(setting, value, "observed", first, "ucx"))
    return once(found)


def _of_line(where: tuple[int, str]) -> Iterator[Seen]:
    line = where[1]
    label = _WHO.match(line)
    who = label["who"] if label else ""
    if one := _CONFIGURED.match(line):
        yield seen_at(one["name"], one["value"], "taken", where, "ucx_info")
    elif one := _VERSION.search(line):
        yield seen_at("version", one["version"], "observed", where, "ucx", who)
        yield seen_at("library", one["path"], "observed", where, "ucx", who)
    elif one := _ENVIRONMENT.search(line):
        for word in one["all"].split():
            name, equals, value = word.partition("=")
            if equals and name.startswith("UCX_"):
                yield seen_at(name, value, "given", where, "ucx", who)
    elif one := _UNUSED.search(line):
        for name in re.findall(r"UCX_[A-Z0-9_]{1,80}", one["all"]):
            yield seen_at(name, "unused", "observed", where, "ucx", who)
