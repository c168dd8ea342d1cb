"""What ``mlxconfig -e q`` printed of an adapter's firmware, as archives keep it. Pure. The text is
hostile: what is not understood is left out.

    Configurations:                     Default         Current         Next Boot
    *       SRIOV_EN                    False(0)        True(1)         True(1)
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from wireproof.audit.facts import UNKEPT, HostFacts
from wireproof.model.record import FactFrame

__all__ = ["mlxconfig_files", "queries_of"]

_TOOLS = ("mlxconfig", "mstconfig")
_ROW = re.compile(r"^[* ]\s+([A-Z][A-Z0-9_]{1,60})\s+(\S+)\s+(\S+)\s+(\S+)[ \t]*$", re.MULTILINE)
_SHOWN = ("PCI_WR_ORDERING", "LINK_TYPE_P1")
_PENDING = "pending"
_MOST_NAMED = 8
_LIVE = "is read from an archive: on a host mlxconfig has to be started by hand"


def queries_of(address: str) -> tuple[tuple[str, ...], ...]:
    """The commands whose text may tell of the adapter at a PCI address: sos asks function 0."""
    first = f"{address.rpartition('.')[0]}.0"
    return tuple((tool, "-d", first, "-e", "q") for tool in _TOOLS)


def mlxconfig_files(
    facts: HostFacts, adapters: Iterable[tuple[str, str]]
) -> Iterator[tuple[str, FactFrame]]:
    """Files ``mlxconfig/NIC/NAME``. ``adapters``: interfaces with their PCI addresses."""
    for nic, address in adapters:
        said = [facts.at(argv) for argv in queries_of(address)] if address else []
        text = next((one.text for one in said if one is not None and one.status == "ok"), "")
        values = _values(text)
        asked = any(one is not None for one in said)
        for name in (*_SHOWN, _PENDING):
            path = f"mlxconfig/{nic}/{name}"
            yield path, _frame(path, values.get(name, ""), UNKEPT if asked else _LIVE)


def _values(text: str) -> dict[str, str]:
    """What is in force, and which values another one waits for."""
    rows = _ROW.findall(text)
    if not rows:
        return {}
    waiting = [f"{name} {after}" for name, _, now, after in rows if now != after]
    return {name: now for name, _, now, _ in rows} | {
        _PENDING: ", ".join(waiting[:_MOST_NAMED]) or "none"
    }


def _frame(path: str, text: str, why: str) -> FactFrame:
    if text:
        return FactFrame(rank=0, kind="file", status="ok", path=path, text=text)
    status = "failed" if why == UNKEPT else "missing"
    return FactFrame(rank=0, kind="file", status=status, path=path, reason=why)  # type: ignore[arg-type]
