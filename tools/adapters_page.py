"""Writes docs/adapters.md from the catalogue of port counters: ``python tools/adapters_page.py``."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from wireproof.analysis.catalogue import FAMILIES
from wireproof.analysis.catalogue.row import Family, Row

__all__ = ["adapters_page"]

_LEVELS = {"wire": "wire", "function": "function of the adapter", "stack": "kernel's interface"}
_CARRIERS = {
    "any": "everything",
    "kernel": "TCP and UDP of the kernel",
    "rdma": "RDMA",
    "psm": "PSM",
}
_QUALITIES = {"lower-bound": "a part may be missing", "double": "counted again beneath"}
_HEAD = """# Adapters: which counters are believed

wireproof knows an adapter by the driver that the kernel names (`device/driver` in sysfs, else `ethtool -i`) and, for
virtual interfaces, by the kernel's kind; never by an interface's name. The driver of an RDMA device comes first. An
adapter whose driver is not on this page is unproven, by name.

* **Level**: *wire* is counted at the physical port; *function* at a virtual port of the adapter, so what the adapter's
  own switch turns round is in it; *kernel's interface* in the operating system.
* **Refresh**: how old a value may be. No entry: it is read when wireproof asks.
* **Blind**: what no counter of its own shows. Unless a row of *everything* can be read, it stays unproven.
* What stands after *unchecked* in a source nobody has read or tried; such a row never proves more than it must.
* PSM3 has no device of its own: over verbs (with or without the `rv` module) it is RDMA of the adapter that it uses,
  over its sockets it is TCP or UDP of the kernel. OPX and PSM2 count in the Omni-Path port, UCX and libfabric in
  whatever they chose.
* *Unsaid function*: the kernel does not say whether the port is a physical or a virtual function (a virtual machine, or
  an adapter without SR-IOV). Registers that a virtual function lists and never moves are then a lower bound: they say
  something when they move and nothing when they stand.
* 32-bit counters that *peg* stop at 2^32-1: a value that stands there is no evidence.

`python tools/adapters_page.py` writes this page from
`src/wireproof/analysis/catalogue/`, and a test compares.
"""


def adapters_page(families: Iterable[Family]) -> str:
    """The whole page as Markdown."""
    return "\n".join([_HEAD, *(_section(family) for family in families)])


def _section(family: Family) -> str:
    names = [
        *(f"`{driver}`" for driver in family.drivers),
        *(f"kind `{kind}`" for kind in family.kinds),
    ]
    lines = [f"## {family.name}", "", f"Drivers: {', '.join(names)}. Source: {family.source}.", ""]
    if family.blind:
        lines += [f"Blind: {', '.join(_CARRIERS[carrier] for carrier in family.blind)}.", ""]
    if family.stacked:
        lines += ["Its bytes count again in the interfaces beneath it.", ""]
    if family.note:
        lines += [family.note, ""]
    if family.rows:
        lines += [
            "| counter | what | level | refresh | remarks | source |",
            "|---|---|---|---|---|---|",
        ]
        lines += [_line(row) for row in family.rows]
        lines.append("")
    return "\n".join(lines)


def _line(row: Row) -> str:
    counter = _counter(row.tx)
    where = "" if row.where == "any" else f", {row.where} ports"
    where += "" if row.function == "any" else f", {row.function} function"
    refresh = f"{row.refresh_ms:g} ms" if row.refresh_ms else ""
    cells = (
        counter,
        _CARRIERS[row.carrier] + where,
        _LEVELS[row.level],
        refresh,
        _remarks(row),
        row.source,
    )
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _counter(names: tuple[str, ...]) -> str:
    first = names[0].replace("{nic}", "NIC").replace("{device}", "DEVICE").replace("{port}", "PORT")
    return f"`{first}`" + (f" and {len(names) - 1} more" if len(names) > 1 else "")


def _remarks(row: Row) -> str:
    remarks = [f"{row.unit} bytes per count"] if row.unit != 1 else []
    remarks += [f"{row.width} bits" + (" that peg" if row.pegs else "")] if row.width != 64 else []
    remarks += [_QUALITIES[row.quality]] if row.quality in _QUALITIES else []
    remarks += ["with check sequences"] if row.fcs else []
    remarks += (
        [f"misses {row.misses}"] if row.misses and not row.misses.startswith("nothing") else []
    )
    return "; ".join(remarks)


if __name__ == "__main__":
    page = Path(__file__).resolve().parents[1].joinpath("docs", "adapters.md")
    page.write_text(adapters_page(FAMILIES), encoding="utf-8")
