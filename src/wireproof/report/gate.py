"""A gate's verdict in the format that its caller expects: text and exit status.

In every dialect only a pass counts as healthy; a result that is inconclusive, too old or missing
does not.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from html import escape  # sufficient for XML; importing xml.sax would cost every gate 20 ms

from wireproof.model import gathered
from wireproof.model.errors import BadInput, suggestion
from wireproof.model.finding import Verdict, worst
from wireproof.model.run import Gate, NodeVerdict, seconds_of
from wireproof.report.json import Kind, enveloped, json_text
from wireproof.report.names import clean, fold
from wireproof.version import version

# --- One line for a monitor or a scheduler's log.

_NAGIOS: dict[Verdict, str] = {"pass": "OK", "fail": "CRITICAL", "inconclusive": "UNKNOWN"}
_LONGEST = 1000
_NAGIOS_LONGEST = 800
"""NRPE forwards at most 1,024 bytes, including performance data."""
_NPD_LONGEST = 80
"""Default limit of Node Problem Detector for a message, in bytes (max_output_length)."""
_UNITS = ((86400, "d"), (3600, "h"), (60, "min"), (1, "s"))


def age(seconds: float) -> str:
    """Return the age in the largest unit in which it is at least 1: ``3 h``."""
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
    ).replace("|", "/")  # text after a bar is performance data
    passing = sum(one.verdict == "pass" for one in gate.nodes)
    data = [f"nodes_passing={passing};;;0;{len(gate.nodes)}"]
    if _is_past(gate):
        data.append(f"age={gate.age_s or 0.0:.0f}s;;;0;")
    return f"{text} | {' '.join(data)}"


def nhc(gate: Gate) -> str:
    """Return ``ERROR:  wireproof:  ...`` in the form of Node Health Check's log lines; "OK" if it
    passes.
    """
    passes = gate.verdict == "pass"
    word = "OK:  wireproof:  " if passes else f"ERROR:  wireproof:  {gate.verdict}: "
    return clean(f"{word}{gate.subject}: {gate.reason}{_measured(gate)}", _LONGEST)


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
    """Return the verdict of each label. If names become equal when they are made safe, the worst
    verdict counts, because a file with a duplicate series is refused as a whole.
    """
    labels = gathered((label_text(node.node), node.verdict) for node in nodes)
    return {label: worst(verdicts) for label, verdicts in labels.items()}


def openmetrics(gate: Gate) -> str:
    """Return the verdict of the gate and of each node, the time of the measurement, and the
    version.

    States are gauges of 0 and 1, of which exactly one is 1. Samples have no time stamps, because
    the collector refuses them.
    """
    lines = [
        line
        for name, about, samples in _families(gate)
        if samples
        for line in family(
            f"wireproof_{name}", "gauge", about, [f"wireproof_{name}{one}" for one in samples]
        )
    ]
    return "\n".join([*lines, "# EOF"])


def _families(gate: Gate) -> tuple[tuple[str, str, list[str]], ...]:
    """Return the name, the description and the samples of each family."""
    verdicts = _by_label(gate.nodes)
    return (
        (
            "verdict",
            "Verdict of the last result; exactly one state is 1.",
            [f'{{verdict="{one}"}} {int(gate.verdict == one)}' for one in _STATES],
        ),
        (
            "node_verdict",
            "Verdict on each node in the last result; exactly one state is 1.",
            [
                f'{{node="{label}",verdict="{state}"}} {int(verdict == state)}'
                for label, verdict in verdicts.items()
                for state in _STATES
            ],
        ),
        (
            "result_time_seconds",
            "When the last result was measured, seconds since 1970.",
            _sample(seconds_of(gate.measured)),
        ),
        (
            "result_max_age_seconds",
            "Maximum age of the last result: beyond it, a pass in this file no longer counts.",
            _sample(gate.max_age_s),
        ),
        (
            "build_info",
            "Version that wrote this file.",
            [f'{{version="{label_text(version())}"}} 1'],
        ),
    )


def _sample(value: float | None) -> list[str]:
    return [] if value is None else [f" {value:.0f}"]


__all__ = ["DIALECTS", "Dialect", "dialect"]


# --- The verdict as a document: JSON, JUnit XML, Common Test Report Format, SARIF.

KIND = Kind("wireproof.gate", 1, "wireproof.model.run:Gate", "gate")
_CTRF: dict[Verdict, str] = {"pass": "passed", "fail": "failed", "inconclusive": "other"}
_LEVEL: dict[Verdict, str] = {"fail": "error", "inconclusive": "warning"}
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_ABOUT: dict[Verdict, str] = {
    "fail": "A node does not reach the rate of its link, or did not use the link",
    "inconclusive": "A node is not proven healthy",
}
_MOST_RESULTS = 4999
_MOST_LOCATIONS = 100
"""GitHub shows at most 5,000 results of a run and 100 locations of a result, and refuses a run with
more than 25,000 results.
"""


def _cases(gate: Gate) -> list[NodeVerdict]:
    """Return a case for each node, and a case for the gate itself if no node has its verdict,
    because readers of a list of cases see neither the exit status nor anything outside the list.
    """
    if any(one.verdict == gate.verdict for one in gate.nodes):
        return gate.nodes
    about = "the result as a whole" if gate.nodes else gate.subject
    return [*gate.nodes, NodeVerdict(node=about, verdict=gate.verdict, reason=gate.reason)]


def gate_json(gate: Gate) -> str:
    """Return the typed document in the common envelope."""
    return json_text(enveloped(KIND, gate), indent=1)


def junit(gate: Gate) -> str:
    """Return a test case for each node. An inconclusive verdict is an ``error``: never skipped,
    never passed.
    """
    cases = _cases(gate)
    fails = sum(one.verdict == "fail" for one in cases)
    errors = sum(one.verdict == "inconclusive" for one in cases)
    # The schema of the strictest reader requires every attribute and empty element here.
    head = (
        f'<testsuite id="0" package="wireproof" name="wireproof" hostname="localhost"'
        f' timestamp="{_utc(gate)}" tests="{len(cases)}" failures="{fails}" errors="{errors}"'
        ' skipped="0" time="0">'
    )
    about = {"verdict": gate.verdict, "reason": gate.reason, "source": gate.source}
    return "\n".join(
        [
            '<?xml version="1.0" encoding="UTF-8"?>',
            "<testsuites>",
            head,
            "<properties>",
            *(f'<property name="{name}" value="{_safe(text)}"/>' for name, text in about.items()),
            "</properties>",
            *map(_case, cases),
            "<system-out/>",
            "<system-err/>",
            "</testsuite>",
            "</testsuites>",
        ]
    )


def _safe(text: str) -> str:
    return escape(clean(text, _LONGEST)) or "-"


def _utc(gate: Gate) -> str:
    """Return when it was measured, without time zone as in JUnit; the start of 1970 if unknown."""
    seconds = max(seconds_of(gate.measured) or 0.0, 0.0)
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def _case(one: NodeVerdict) -> str:
    head = f'<testcase classname="wireproof.fabric" name="{escape(clean(one.node, 200))}" time="0"'
    if one.verdict == "pass":
        return f"{head}/>"
    kind = "failure" if one.verdict == "fail" else "error"
    text = _safe(one.reason)
    return f'{head}><{kind} type="{one.verdict}" message="{text}">{text}</{kind}></testcase>'


def ctrf(gate: Gate) -> str:
    """Return Common Test Report Format 1.0: inconclusive is ``other``, never ``skipped``."""
    cases = _cases(gate)
    when = int((seconds_of(gate.measured) or 0) * 1000)
    counts = {status: sum(_CTRF[one.verdict] == status for one in cases) for status in _STATUSES}
    summary = {"tests": len(cases), **counts, "start": when, "stop": when}
    tests = [
        {
            "name": clean(one.node, 200),
            "status": _CTRF[one.verdict],
            "duration": 0,
            "message": clean(one.reason, _LONGEST),
        }
        for one in cases
    ]
    tool = {"name": "wireproof", "version": version()}
    results = {"tool": tool, "summary": summary, "tests": tests}
    return json_text({"reportFormat": "CTRF", "specVersion": "0.0.0", "results": results}, indent=1)


_STATUSES = ("passed", "failed", "pending", "skipped", "other")


def sarif(gate: Gate) -> str:
    """Return a result for each reason that keeps nodes from passing, with the nodes folded: ten
    thousand nodes with the same fault are one result. Results above the limits of code scanners
    are only counted.
    """
    groups = gathered(
        ((one.verdict, one.reason), one.node)
        for one in sorted(_cases(gate), key=lambda one: one.verdict != "fail")
        if one.verdict != "pass"
    )
    results = [
        _result(verdict, names, reason)
        for (verdict, reason), names in list(groups.items())[:_MOST_RESULTS]
    ]
    if left := list(groups.items())[_MOST_RESULTS:]:
        reason = f"{len(left)} more reasons keep these nodes from passing"
        names = [name for _, group in left for name in group]
        results.append(_result(left[0][0][0], names, reason))
    rules = [_rule(verdict) for verdict in dict.fromkeys(key[0] for key in groups)]
    driver = {"name": "wireproof", "version": version(), "rules": rules}
    runs = [{"tool": {"driver": driver}, "results": results}]
    return json_text({"version": "2.1.0", "$schema": _SCHEMA, "runs": runs}, indent=1)


def _rule(verdict: Verdict) -> dict[str, object]:
    short = {"text": _ABOUT[verdict]}
    return {
        "id": f"node-{verdict}",
        "shortDescription": short,
        "fullDescription": short,
        "help": {"text": "`wireproof explain` describes each finding and what to do next."},
        "defaultConfiguration": {"level": _LEVEL[verdict]},
    }


def _result(verdict: Verdict, names: list[str], reason: str) -> dict[str, object]:
    """Return one result. It names the judged file, because code scanners refuse a result without a
    file; the fingerprint distinguishes results on the same line.
    """
    whose = fold(names)
    file = {"artifactLocation": {"uri": "result.json"}, "region": {"startLine": 1}}
    return {
        "ruleId": f"node-{verdict}",
        "level": _LEVEL[verdict],
        "message": {"text": clean(f"{whose}: {reason}", _LONGEST)},
        "locations": [
            {
                "physicalLocation": file,
                "logicalLocations": [{"name": clean(name, 200), "kind": "resource"}],
            }
            for name in names[:_MOST_LOCATIONS]
        ],
        "partialFingerprints": {
            "primaryLocationLineHash": sha256(
                f"{verdict}:{whose}".encode(errors="backslashreplace")
            ).hexdigest()[:16]
        },
    }


# --- The dialects.


@dataclass(frozen=True)
class Dialect:
    """A format for one kind of ``caller``: the text of a verdict, and the exit status for each
    verdict.
    """

    caller: str
    text: Callable[[Gate], str]
    status: Mapping[Verdict, int]


_OURS: Mapping[Verdict, int] = {"pass": 0, "fail": 1, "inconclusive": 3}
_SHUT: Mapping[Verdict, int] = {"pass": 0, "fail": 1, "inconclusive": 1}

DIALECTS: Mapping[str, Dialect] = {
    "text": Dialect("people: one line", plain, _OURS),
    "json": Dialect("programs: the verdict of each node", gate_json, _OURS),
    "nagios": Dialect(
        "Nagios, Icinga, Checkmk: CRITICAL 2, UNKNOWN 3",
        nagios,
        {"pass": 0, "fail": 2, "inconclusive": 3},
    ),
    "nhc": Dialect("LBNL Node Health Check: check_cmd_status -r 0", nhc, _SHUT),
    "slurm": Dialect("Slurm's prolog or HealthCheckProgram: 0 or 1", plain, _SHUT),
    "npd": Dialect(
        "Node Problem Detector, custom plugin: NonOK 1, Unknown 2",
        node_problem,
        {"pass": 0, "fail": 1, "inconclusive": 2},
    ),
    "openmetrics": Dialect(
        "node_exporter's text file, Prometheus",
        openmetrics,
        {"pass": 0, "fail": 0, "inconclusive": 0},
    ),
    "junit": Dialect("CI: JUnit XML", junit, _OURS),
    "ctrf": Dialect("CI: Common Test Report Format", ctrf, _OURS),
    "sarif": Dialect("code scanners: SARIF 2.1.0", sarif, _OURS),
}
"""The dialects by name. A metrics file contains the verdict as data, so its exit status only
reports whether it was written.
"""


def dialect(name: str) -> Dialect:
    """Return the dialect; raise ``BadInput`` with the known names if there is none."""
    if name not in DIALECTS:
        raise BadInput(f"there is no dialect {name[:40]!r}; {suggestion(name, DIALECTS)}")
    return DIALECTS[name]
