"""One line for a monitor or a scheduler's log."""

from collections import defaultdict
from collections.abc import Sequence

from wireproof.model.finding import Verdict, worst
from wireproof.model.run import Gate, NodeVerdict, seconds_of
from wireproof.report.names import clean
from wireproof.version import version

_NAGIOS: dict[Verdict, str] = {"pass": "OK", "fail": "CRITICAL", "inconclusive": "UNKNOWN"}
_LONGEST = 1000
_NAGIOS_LONGEST = 800
"""NRPE forwards at most 1,024 bytes, including performance data."""
_NPD_LONGEST = 80
"""Default limit of Node Problem Detector for a message, in bytes (max_output_length)."""
_UNITS = ((86400, "d"), (3600, "h"), (60, "min"), (1, "s"))


def age(seconds: float) -> str:
    """Return ``3 h``: the age in the largest unit that gives at least 1."""
    for size, unit in _UNITS:
        if seconds >= size:
            return f"{seconds / size:.0f} {unit}"
    return "0 s"


def _within(text: str, most_bytes: int) -> str:
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
    """Return ``wireproof fail: n3: n3 sends slowly ... (measured 3 h ago)``."""
    return clean(
        f"wireproof {gate.verdict}: {gate.subject}: {gate.reason}{_measured(gate)}", _LONGEST
    )


def nagios(gate: Gate) -> str:
    """Return service output according to the Nagios plugin guidelines: one line, then ``|`` and
    performance data.
    """
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
    """Return ``ERROR:  wireproof:  ...`` in the form of Node Health Check's log lines; "OK" if it
    passes.
    """
    if gate.verdict == "pass":
        return clean(f"OK:  wireproof:  {gate.subject}: {gate.reason}{_measured(gate)}", _LONGEST)
    return clean(
        f"ERROR:  wireproof:  {gate.verdict}: {gate.subject}: {gate.reason}{_measured(gate)}",
        _LONGEST,
    )


def node_problem(gate: Gate) -> str:
    """Return at most 80 bytes, verdict first, because the reader truncates the rest."""
    return _within(f"{gate.verdict}: {gate.reason}", _NPD_LONGEST)


_STATES: tuple[Verdict, ...] = ("pass", "fail", "inconclusive")


def label_text(text: str) -> str:
    """Return ``text`` as the value of a label."""
    return clean(text, 200).replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")


def family(name: str, kind: str, about: str, samples: list[str]) -> list[str]:
    """Return the lines of a metric family."""
    return [f"# HELP {name} {about}", f"# TYPE {name} {kind}", *samples]


def _by_label(nodes: Sequence[NodeVerdict]) -> dict[str, Verdict]:
    """Return the verdict of each label. If names become equal when they are made harmless, the
    worst verdict counts: a file with a duplicate series is refused as a whole.
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
    """Return the verdict of the gate and of each node, the time of the measurement, and the
    version.

    States are gauges of 0 and 1, of which exactly one is 1. Samples have no time stamps, because
    the collector refuses them.
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
