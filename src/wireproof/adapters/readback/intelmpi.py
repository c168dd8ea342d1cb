"""Intel MPI: what ranks print with ``I_MPI_DEBUG=5`` or more (2021.18 compared), and the table of
``impi_info -e``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from wireproof.adapters.readback.seen import once, seen_at
from wireproof.model.psm3 import Seen

__all__ = ["intelmpi_defaults", "intelmpi_readback"]

_SAID = re.compile(
    r"^\[(?P<rank>\d{1,7})(?:#[^\]]{0,80})?\] MPI startup\(\): (?P<said>.{1,1000})$", re.A
)
_FACTS = {
    "version": re.compile(r"Intel\(R\) MPI Library, Version (?P<value>\S{1,60})"),
    "libfabric": re.compile(r"libfabric version: (?P<value>\S{1,60})"),
    "I_MPI_OFI_PROVIDER": re.compile(r"libfabric provider: (?P<value>\S{1,60})"),
    "I_MPI_TUNING_BIN": re.compile(r'Load tuning file: "(?P<value>[^"]{1,400})"'),
    "nics": re.compile(r"Number of NICs: +(?P<value>\d{1,6})"),
}
_VARIABLE = re.compile(r"(?P<name>I_MPI_[A-Z0-9_]{1,80})=(?P<value>.{0,400})$", re.A)
_TABLE = re.compile(r"=+ (?P<what>NIC|CPU) pinning", re.A)
_NIC_ROW = re.compile(r"(?P<rank>\d{1,7}) +\d{1,4} +(?P<nic>\S{1,120}) *$", re.A)
_DEFAULT = re.compile(
    r"^ *\| (?P<name>I_MPI_[A-Z0-9_]{1,80}) +\| (?P<value>.*?) +\| [A-Z_]{1,40} +\|", re.A
)


def intelmpi_readback(text: str) -> list[Seen]:
    """The provider, the tuning file that was found, the NIC of each rank (``observed``), and the
    variables that the library lists (``given``: it repeats what it was started with).
    """
    return once(_said(text))


def _said(text: str) -> Iterator[Seen]:
    table = ""
    for where in enumerate(text.split("\n"), 1):
        line = _SAID.match(where[1])
        if line is None:
            continue
        said, who = line["said"], f"rank {line['rank']}"
        if heading := _TABLE.match(said):
            table = heading["what"]
        elif (row := _NIC_ROW.match(said)) and table == "NIC":
            yield seen_at("nic", row["nic"], "observed", where, "intelmpi", f"rank {row['rank']}")
        elif one := _VARIABLE.match(said):
            yield seen_at(one["name"], one["value"], "given", where, "intelmpi", who)
        else:
            for name, form in _FACTS.items():
                fact = form.match(said)
                # A tuning file is named before it is looked for.
                if fact is not None and not (name == "I_MPI_TUNING_BIN" and _absent(text, fact)):
                    yield seen_at(name, fact["value"], "observed", where, "intelmpi", who)


def _absent(text: str, fact: re.Match[str]) -> bool:
    return f'File "{fact["value"]}" not found' in text


def intelmpi_defaults(text: str) -> dict[str, str]:
    """The default of each variable that ``impi_info -e`` lists, "" where it says ``not defined``:
    what this release knows, and nothing of what is in force.
    """
    found = {one["name"]: one["value"] for one in map(_DEFAULT.match, text.split("\n")) if one}
    return {name: "" if value == "not defined" else value for name, value in found.items()}
