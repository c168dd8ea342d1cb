"""PSM3's own counters of one job, judged, for people: the hosts, then the findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from wireproof.model.psm3 import CountedHost, JudgedStatistics, NicCounted
from wireproof.model.quantity import volume
from wireproof.report.text.look import Look

__all__ = ["job_lines", "job_text"]

_MOST_HOSTS = 16
_MOST_OF_A_CODE = 4
_WORDS = {"pass": "PASS", "fail": "FAIL", "inconclusive": "INCONCLUSIVE"}
_UNKNOWN = "-"


def job_text(judged: JudgedStatistics, look: Look) -> str:
    """Verdict, a line for each host and NIC, findings."""
    return "".join(f"{line}\n" for line in job_lines(judged, look))


def job_lines(judged: JudgedStatistics, look: Look) -> list[str]:
    """The same as lines, the verdict first."""
    what = f"{len(judged.sources)} {'process' if len(judged.sources) == 1 else 'processes'}"
    if judged.wanted_ranks:
        what += f" of {judged.wanted_ranks}"
    build = f" ({judged.build})" if judged.build else ""
    hal = f", HAL {judged.hal}" if judged.hal else ""
    title = f"{judged.library} statistics{build}{hal}: {what}, path {judged.proof}"
    return [
        f"{_WORDS[judged.verdict]:<12} {look.say(title, 200)}",
        *_table(judged, look),
        *_findings(judged, look),
    ]


def _table(judged: JudgedStatistics, look: Look) -> Iterator[str]:
    rows = [row for host in judged.hosts[:_MOST_HOSTS] for row in _rows(host)]
    heads = ("host", "NIC", "sent", "received", "in host", "resent", "waits")
    if not any(row[1] != _UNKNOWN or row[2] != "0 B" for row in rows):
        return
    shown = [heads, *([look.say(cell, 24) for cell in row] for row in rows)]
    widths = [max(len(row[i]) for row in shown) for i in range(len(heads))]
    for row in shown:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        yield "  " + "  ".join(cells).rstrip()
    if len(judged.hosts) > _MOST_HOSTS:
        yield f"  and {len(judged.hosts) - _MOST_HOSTS} more hosts (--json has all)"


def _rows(host: CountedHost) -> Iterator[tuple[str, ...]]:
    near = None
    if host.shm_bytes is not None and host.self_bytes is not None:
        near = host.shm_bytes + host.self_bytes
    inside = _UNKNOWN if near is None else volume(near)
    nics = host.nics or [NicCounted(name=_UNKNOWN, sent_bytes=host.nic_bytes or 0)]
    for index, nic in enumerate(nics):
        yield (
            (host.host or "(unknown)") if not index else "",
            nic.name,
            volume(nic.sent_bytes),
            volume(nic.received_bytes),
            inside if not index else "",
            str(nic.again),
            str(nic.stalls),
        )


def _findings(judged: JudgedStatistics, look: Look) -> Iterator[str]:
    shown: Counter[tuple[str, str]] = Counter()
    for one in judged.findings:
        key = (one.severity, one.code)
        shown[key] += 1
        if shown[key] > _MOST_OF_A_CODE:
            continue
        subject = "" if one.subject == "statistics" else f"{one.subject}: "
        yield f"  {one.severity:<12} {one.code}: {look.say(subject + one.message, 600)}"
        if one.severity != "note" and shown[key] == 1:
            yield f"  {'':<12} {look.say(one.advice, 400)}"
    more = sum(count - _MOST_OF_A_CODE for count in shown.values() if count > _MOST_OF_A_CODE)
    if more:
        yield f"  and {more} more findings of the same kinds (--json has all)"
