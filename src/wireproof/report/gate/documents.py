"""A gate's verdict as a document: JSON, JUnit XML, Common Test Report Format, SARIF."""

from datetime import UTC, datetime
from hashlib import sha256
from html import escape  # all that XML needs; xml.sax costs every gate 20 ms of imports

from wireproof.model.finding import Verdict
from wireproof.model.run import Gate, NodeVerdict, seconds_of
from wireproof.report.json.encode import json_text
from wireproof.report.json.envelope import Kind, enveloped
from wireproof.report.names import clean, fold
from wireproof.version import version

KIND = Kind("wireproof.gate", 1, "wireproof.model.run:Gate", "gate")
_CTRF: dict[Verdict, str] = {"pass": "passed", "fail": "failed", "inconclusive": "other"}
_LEVEL: dict[Verdict, str] = {"fail": "error", "inconclusive": "warning"}
_LONGEST = 1000
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_ABOUT: dict[Verdict, str] = {
    "fail": "A node does not reach what its link can do, or did not use it",
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
    # The strictest of the readers' schemas requires every attribute and empty element here.
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
    groups: dict[tuple[Verdict, str], list[str]] = {}
    for one in sorted(_cases(gate), key=lambda one: one.verdict != "fail"):
        if one.verdict != "pass":
            groups.setdefault((one.verdict, one.reason), []).append(one.node)
    results = [
        _result(verdict, names, reason)
        for (verdict, reason), names in list(groups.items())[:_MOST_RESULTS]
    ]
    if left := list(groups.items())[_MOST_RESULTS:]:
        reason = f"{len(left)} more reasons keep these from passing"
        names = [name for _, group in left for name in group]
        results.append(_result(left[0][0][0], names, reason))
    rules = [_rule(verdict) for verdict in dict.fromkeys(key[0] for key in groups)]
    driver = {"name": "wireproof", "version": version(), "rules": rules}
    runs = [{"tool": {"driver": driver}, "results": results}]
    return json_text({"version": "2.1.0", "$schema": _SCHEMA, "runs": runs}, indent=1)


def _rule(verdict: Verdict) -> dict[str, object]:
    short = {"text": _ABOUT[verdict]}
    more = "`wireproof explain` describes each finding and what to do next."
    return {
        "id": f"node-{verdict}",
        "shortDescription": short,
        "fullDescription": short,
        "help": {"text": more},
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
