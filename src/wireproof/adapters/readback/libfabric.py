"""libfabric: ``FI_LOG_LEVEL=info`` (1.17 and 2.4 compared)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from wireproof.adapters.readback.seen import once, seen_at
from wireproof.model.psm3 import Seen

__all__ = ["libfabric_readback"]

_LINE = re.compile(
    r"libfabric:(?P<pid>\d{1,10}):\d{1,20}:[^:]{0,40}:(?P<provider>[A-Za-z0-9_;.-]{1,40}):"
    r"[^:]{1,40}:[^<]{1,200}<(?:info|warn|trace|debug)> (?P<said>.{1,1000})$",
    re.A,
)
_READ = re.compile(r"read \w+ var (?P<name>[A-Za-z0-9_]{1,80})=(?P<value>.{0,400})$", re.A)
_USING = re.compile(
    r"Using (?P<name>[A-Za-z0-9_;.-]{1,60}) provider (?P<version>[\d.]{1,20}), path:(?P<path>.*)$"
)
_CORE = "core"


def libfabric_readback(text: str) -> list[Seen]:
    """Variables that were read (``taken``), and the provider whose fabric was opened
    (``observed``). A variable that no line says was read may be unknown to this library.
    """
    return once(seen for where in enumerate(text.split("\n"), 1) for seen in _of_line(where))


def _of_line(where: tuple[int, str]) -> Iterator[Seen]:
    line = _LINE.search(where[1])
    if line is None:
        return
    who = f"pid {line['pid']}"
    if one := _READ.match(line["said"]):
        of = line["provider"]
        prefix = "FI_" if of == _CORE else f"FI_{of.upper()}_"
        yield seen_at(f"{prefix}{one['name'].upper()}", one["value"], "taken", where, of, who)
    elif one := _USING.match(line["said"]):
        yield seen_at("FI_PROVIDER", one["name"], "observed", where, _CORE, who)
        yield seen_at("provider version", one["version"], "observed", where, _CORE, who)
        yield seen_at("library", one["path"], "observed", where, _CORE, who)
