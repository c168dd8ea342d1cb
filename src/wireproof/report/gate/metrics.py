"""Metrics for node_exporter's text file collector, valid OpenMetrics without time stamps."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from wireproof.model.finding import Verdict, worst
from wireproof.model.gate import Gate, NodeVerdict, seconds_of
from wireproof.report.names import clean
from wireproof.version import version

__all__ = ["family", "label_text", "openmetrics"]

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
