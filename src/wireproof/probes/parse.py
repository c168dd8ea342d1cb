"""What the raw facts of one machine say about its fitness for measuring. Pure. Text is hostile:
unknown is None.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from wireproof.model.record import FactFrame

__all__ = ["HostState", "host_state", "selected"]

_SELECTED = re.compile(r"\[([a-z+-]{1,32})\]")


class HostState(msgspec.Struct, frozen=True, kw_only=True):
    """None is unknown, never a default. ``load`` is the one-minute load average."""

    rank: int
    kernel: str | None = None
    clock_source: str | None = None
    huge_pages: str | None = None
    governor: str | None = None
    smt: bool | None = None
    load: float | None = None


def selected(text: str) -> str | None:
    """The chosen word of a sysfs choice: ``always [madvise] never`` is ``madvise``."""
    found = _SELECTED.search(text)
    return found.group(1) if found else None


def _word(text: str) -> str | None:
    words = text.split()
    return words[0][:64] if words and words[0].isprintable() else None


def _load(text: str) -> float | None:
    found = re.match(r"([0-9]{1,6}\.[0-9]{1,4})\s", text, re.ASCII)
    return float(found.group(1)) if found else None


def _kernel(text: str) -> str | None:
    found = re.match(r"Linux version (\S{1,128})", text)
    return found.group(1) if found else None


def host_state(facts: Iterable[FactFrame], rank: int = 0) -> HostState:
    """State of the host that answered for ``rank``; facts that are missing or unreadable stay
    None.
    """
    texts = {
        fact.path: fact.text
        for fact in facts
        if fact.rank == rank and fact.kind == "file" and fact.status == "ok"
    }
    smt = _word(texts.get("/sys/devices/system/cpu/smt/active", ""))
    return HostState(
        rank=rank,
        kernel=_kernel(texts.get("/proc/version", "")),
        clock_source=_word(
            texts.get("/sys/devices/system/clocksource/clocksource0/current_clocksource", "")
        ),
        huge_pages=selected(texts.get("/sys/kernel/mm/transparent_hugepage/enabled", "")),
        governor=_word(texts.get("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "")),
        smt={"1": True, "0": False}.get(smt) if smt else None,
        load=_load(texts.get("/proc/loadavg", "")),
    )
