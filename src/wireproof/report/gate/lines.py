"""One line for a monitor or a scheduler's log."""

from collections import defaultdict
from collections.abc import Sequence

from wireproof.model.finding import Verdict, worst
from wireproof.model.gate import Gate, NodeVerdict, seconds_of
from wireproof.report.names import clean
from wireproof.version import version

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


_STATES: tuple[Verdict, ...] = ("pass", "fail", "inconclusive")


def label_text(text: str) -> str:
    """``text`` as the value of a label."""
    return clean(text, 200).replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")


def family(name: str, kind: str, about: str, samples: list[str]) -> list[str]:
    """The lines of a metric family."""
    return [f"# HELP {name} {about}", f"# TYPE {name} {kind}", *samples]


def _by_label(nodes: Sequence[NodeVerdict]) -> dict[str, Verdict]:
    """The verdict of each label. Of names that look alike once they are harmless the worst counts:
    a file with one series twice is refused as a whole.
    """
    found: defaultdict[str, list[Verdict]] = defaultdict(list)
    for node in nodes:
        found[label_text(node.node)].append(node.verdict)
    return {label: worst(verdicts) for label, verdicts in found.items()}


def _states(label: str, verdict: Verdict) -> list[str]:
    return [
        f'wireproof_node_verdict{{node="{label}",verdict="{state}"}} {int(verdict == state)}'
        for state in _STATES
    ]


def openmetrics(gate: Gate) -> str:
    """The verdict of the gate and of each node, when it was measured, and by which version.

    States are gauges of 0 and 1, one of them 1. Samples carry no time stamps: the collector
    refuses those.
    """
    lines = family(
        "wireproof_verdict",
        "gauge",
        "Verdict of the last result; exactly one is 1.",
        [f'wireproof_verdict{{verdict="{one}"}} {int(gate.verdict == one)}' for one in _STATES],
    )
    if gate.nodes:
        verdicts = _by_label(gate.nodes)
        samples = [line for label, verdict in verdicts.items() for line in _states(label, verdict)]
        lines += family(
            "wireproof_node_verdict",
            "gauge",
            "Verdict on each node in the last result; exactly one is 1.",
            samples,
        )
    if (when := seconds_of(gate.measured)) is not None:
        lines += family(
            "wireproof_result_time_seconds",
            "gauge",
            "When the last result was measured, seconds since 1970.",
            [f"wireproof_result_time_seconds {when:.0f}"],
        )
    if gate.max_age_s is not None:
        lines += family(
            "wireproof_result_max_age_seconds",
            "gauge",
            "How old the last result may be: beyond that a pass of this file counts no more.",
            [f"wireproof_result_max_age_seconds {gate.max_age_s:.0f}"],
        )
    lines += family(
        "wireproof_build_info",
        "gauge",
        "Version that wrote this file.",
        [f'wireproof_build_info{{version="{label_text(version())}"}} 1'],
    )
    return "\n".join([*lines, "# EOF"])
