"""A history, as lines for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from wireproof.analysis.change_points import FEWEST
from wireproof.model import quantity
from wireproof.model.history import GOOD, Change, Entry, NodeAge, Number, Regression, Trend
from wireproof.report.gate.lines import age
from wireproof.report.names import clean, fold
from wireproof.report.text.look import Look

__all__ = [
    "added_line",
    "age_lines",
    "entry_lines",
    "imported_line",
    "regression_lines",
    "trend_lines",
]

_BLOCKS = " ▁▂▃▄▅▆▇█"
_ASCII_BLOCKS = " .:-=+*#@"
_MOST_CHANGED = 6
_LONGEST_CURVE = 60
_HEADLINES = (("pingpong", 8), ("stream", 1 << 20))


def _rows(rows: Sequence[Sequence[str]]) -> list[str]:
    """Columns with two blanks between them; the last is not padded."""
    if not rows:
        return []
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]) - 1)]
    return [
        "  ".join([*(text.ljust(width) for text, width in zip(row, widths, strict=False)), row[-1]])
        for row in rows
    ]


def _value(unit: str, value: float) -> str:
    if unit == "ns":
        return f"{quantity.microseconds(value)} us"
    return f"{quantity.megabytes(value)} MB/s"


def entry_lines(entries: Sequence[Entry]) -> list[str]:
    """A line for each result: id, verdict, hosts, link, MPI, half round trip of 8 B and goodput of
    1 MiB; of an imported log its tools and its file.
    """
    rows: list[tuple[str, ...]] = [("result", "verdict", "hosts", "link", "MPI", "8 B", "1 MiB")]
    rows += [
        (
            one.id,
            f"imported: {one.verdict}" if one.imported else one.verdict,
            clean(one.hosts, 40) or "-",
            clean(one.link, 20) or "-",
            _carried(one),
            *(_headline(one.numbers, *which) for which in _HEADLINES),
        )
        for one in entries
    ]
    return _rows(rows)


def _carried(one: Entry) -> str:
    if one.imported is not None:
        return clean(", ".join(one.imported.tools), 24)
    return clean(one.mpi.partition(" (")[0], 24) or clean(one.transport, 10) or "-"


_DATED = {
    "given": "",
    "log": ", as the log says (read as UTC)",
    "file": ", the last change of its file: --measured says when it was measured",
}


def added_line(entry: Entry) -> str:
    """The name of what has come in; of a log what it was taken for, too."""
    log = entry.imported
    if log is None:
        return entry.id
    by = f"by {clean(entry.link)}" if entry.link else "without a link"
    return (
        f"{entry.id}, log of {clean(', '.join(log.tools))}, {entry.verdict} {by}, of"
        f" {clean(entry.measured, 40)}{_DATED[log.dated]}"
    )


def imported_line(entry: Entry) -> str:
    """What stands above a log that is judged again."""
    log = entry.imported
    if log is None:
        return ""
    of = f" of {clean(entry.hosts, 200)}" if entry.hosts else ""
    return (
        f"imported log {clean(log.file)} (SHA-256 {log.sha256}){of}, {clean(entry.measured, 40)}"
        f"{_DATED[log.dated]}; its numbers are claims and prove no node"
    )


def _headline(numbers: Sequence[Number], name: str, size: int) -> str:
    found = [one for one in numbers if (one.name, one.message_bytes) == (name, size)]
    return _value(found[0].unit, found[0].value) if found else "-"


def trend_lines(found: Sequence[Trend], look: Look) -> list[str]:
    """A curve for each number, its last value, and where it has changed."""
    lines: list[str] = []
    for one in found:
        what = f"{clean(one.name)} {quantity.size(one.message_bytes)}"
        what += f", {clean(one.hosts, 60) or 'hosts not named'}"
        what += ", imported (claimed, no interval)" if one.imported else ""
        lines.append(
            f"{what}: {quantity.counted(len(one.values), 'result')}, last"
            f" {_value(one.unit, one.values[-1])}"
        )
        lines.append(f"  |{_curve(one.values[-_LONGEST_CURVE:], look)}|")
        for change in one.changes:
            lines += _change(change)
        if len(one.values) < 2 * FEWEST:
            lines.append(f"  a change shows in {2 * FEWEST} results or more")
    return lines


def _curve(values: Sequence[float], look: Look) -> str:
    blocks = _ASCII_BLOCKS if look.ascii else _BLOCKS
    low, high = min(values), max(values)
    steps = len(blocks) - 2
    return "".join(
        blocks[1 + (round((one - low) / (high - low) * steps) if high > low else steps // 2)]
        for one in values
    )


def _change(one: Change) -> list[str]:
    word = "better" if one.ratio > 1 else "worse"
    share = f"{abs(one.ratio - 1) * 100:.1f} %"
    lines = [f"  {share} {word} since {clean(one.measured)}, {one.since} (p {one.p:.4f})"]
    if one.few:
        lines.append("    of few results: the noise is taken for normal")
    if one.nodes:
        lines.append(f"    no longer passing there: {fold(one.nodes, 120)}")
    changed = [f"    changed there: {clean(text, 200)}" for text in one.changed[:_MOST_CHANGED]]
    if len(one.changed) > _MOST_CHANGED:
        changed.append(f"    and {len(one.changed) - _MOST_CHANGED} more conditions")
    return lines + (changed or ["    no condition that is recorded changed there"])


def regression_lines(newest: str, found: Sequence[Regression], good: int = 0) -> list[str]:
    """What is worse in the newest result than in the ``good`` ones before."""
    if not found:
        there = f"there {'is' if good == 1 else 'are'} {good or 'fewer'}"
        needed = f"{GOOD} passing ones of these hosts are needed, {there}"
        return [f"{newest}: not compared with earlier results: {needed}"]
    worse = [one for one in found if one.worse]
    if not worse:
        return [f"{newest}: no number is worse than in the last {found[0].results} good results"]
    return [
        f"{newest}: {clean(one.name)} {quantity.size(one.message_bytes)} is"
        f" {(1 - one.ratio) * 100:.1f} % worse than in the last {one.results} good results, which"
        f" vary by {(1 - one.low) * 100:.1f} %"
        for one in worse
    ]


def age_lines(found: Sequence[NodeAge]) -> list[str]:
    """When each node last passed, the longest ago first; by NIC and link where some are named."""
    by_link = any(one.nic or one.link for one in found)
    rows = [("node", *(("NIC", "link") if by_link else ()), "last verdict", "last proven")]
    rows += [
        (
            clean(one.node, 60),
            *((clean(one.nic, 40) or "-", clean(one.link, 40) or "-") if by_link else ()),
            one.verdict,
            f"{age(one.age_s)} ago" if one.age_s is not None else "never",
        )
        for one in found
    ]
    return _rows(rows)
