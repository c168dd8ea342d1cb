"""One line for a monitor or a scheduler's log."""

from __future__ import annotations

from wireproof.model.finding import Verdict
from wireproof.model.gate import Gate
from wireproof.report.names import clean

__all__ = ["age", "nagios", "nhc", "node_problem", "plain"]

_NAGIOS: dict[Verdict, str] = {"pass": "OK", "fail": "CRITICAL", "inconclusive": "UNKNOWN"}
_LONGEST = 1000
_NAGIOS_LONGEST = 800
"""NRPE hands on 1,024 bytes at most, performance data included."""
_NPD_LONGEST = 80
"""Bytes of a message that Node Problem Detector keeps by default (max_output_length)."""
_UNITS = ((86400, "d"), (3600, "h"), (60, "min"), (1, "s"))


def age(seconds: float) -> str:
    """``3 h``: in the largest unit that it has one of."""
    for size, unit in _UNITS:
        if seconds >= size:
            return f"{seconds / size:.0f} {unit}"
    return "0 s"


def _within(text: str, most_bytes: int) -> str:
    """One harmless line; what is cut off ends in ``...``."""
    line = clean(text, _LONGEST)
    data = line.encode()
    if len(data) <= most_bytes:
        return line
    return data[: most_bytes - 3].decode(errors="ignore").rstrip() + "..."


def _is_past(gate: Gate) -> bool:
    return gate.age_s is not None and gate.age_s >= 0


def _measured(gate: Gate) -> str:
    return f" (measured {age(gate.age_s or 0.0)} ago)" if _is_past(gate) else ""


def plain(gate: Gate) -> str:
    """``wireproof fail: n3: n3 sends slowly ... (measured 3 h ago)``."""
    return clean(
        f"wireproof {gate.verdict}: {gate.subject}: {gate.reason}{_measured(gate)}", _LONGEST
    )


def nagios(gate: Gate) -> str:
    """Service output of the Nagios plugin guidelines: one line, then ``|`` and performance data."""
    text = _within(
        f"WIREPROOF {_NAGIOS[gate.verdict]} - {gate.subject}: {gate.reason}{_measured(gate)}",
        _NAGIOS_LONGEST,
    ).replace("|", "/")  # what follows a bar is performance data
    passing = sum(one.verdict == "pass" for one in gate.nodes)
    data = [f"nodes_passing={passing};;;0;{len(gate.nodes)}"]
    if _is_past(gate):
        data.append(f"age={gate.age_s or 0.0:.0f}s;;;0;")
    return f"{text} | {' '.join(data)}"


def nhc(gate: Gate) -> str:
    """``ERROR:  wireproof:  ...`` as Node Health Check logs its own checks; "OK" when it passes."""
    if gate.verdict == "pass":
        return clean(f"OK:  wireproof:  {gate.subject}: {gate.reason}{_measured(gate)}", _LONGEST)
    return clean(
        f"ERROR:  wireproof:  {gate.verdict}: {gate.subject}: {gate.reason}{_measured(gate)}",
        _LONGEST,
    )


def node_problem(gate: Gate) -> str:
    """At most 80 bytes, the verdict first: more is cut off by the reader."""
    return _within(f"{gate.verdict}: {gate.reason}", _NPD_LONGEST)
