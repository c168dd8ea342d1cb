"""A gate's verdict as a document: JSON, JUnit XML, Common Test Report Format, SARIF."""

from __future__ import annotations

from xml.sax.saxutils import escape, quoteattr

from wireproof import __version__
from wireproof.model.finding import Verdict
from wireproof.model.gate import Gate, NodeVerdict, seconds_of
from wireproof.report.json.encode import json_text
from wireproof.report.names import clean, fold

__all__ = ["ctrf", "gate_json", "junit", "sarif"]

_CTRF: dict[Verdict, str] = {"pass": "passed", "fail": "failed", "inconclusive": "other"}
_LEVEL: dict[Verdict, str] = {"fail": "error", "inconclusive": "warning"}
_LONGEST = 1000
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def _cases(gate: Gate) -> list[NodeVerdict]:
    """A case for each node; the gate itself where there is none, so that no list is empty."""
    whole = NodeVerdict(node=gate.subject, verdict=gate.verdict, reason=gate.reason)
    return gate.nodes or [whole]


def gate_json(gate: Gate) -> str:
    """The typed document itself."""
    return json_text(gate, indent=1)


def junit(gate: Gate) -> str:
    """A test case for each node. What is undecided is an ``error``: never skipped, never passed."""
    cases = _cases(gate)
    fails = sum(one.verdict == "fail" for one in cases)
    errors = sum(one.verdict == "inconclusive" for one in cases)
    head = (
        f'<testsuite name="wireproof" tests="{len(cases)}" failures="{fails}" errors="{errors}"'
        ' skipped="0" time="0">'
    )
    return "\n".join(
        [
            '<?xml version="1.0" encoding="UTF-8"?>',
            "<testsuites>",
            head,
            *map(_case, cases),
            "</testsuite>",
            "</testsuites>",
        ]
    )


def _case(one: NodeVerdict) -> str:
    head = f'<testcase classname="wireproof.fabric" name={quoteattr(clean(one.node, 200))} time="0"'
    if one.verdict == "pass":
        return f"{head}/>"
    kind = "failure" if one.verdict == "fail" else "error"
    text = clean(one.reason, _LONGEST)
    return (
        f"{head}><{kind} type={quoteattr(one.verdict)} message={quoteattr(text)}>"
        f"{escape(text)}</{kind}></testcase>"
    )


def ctrf(gate: Gate) -> str:
    """Common Test Report Format 1.0: undecided is ``other``, never ``skipped``."""
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
    tool = {"name": "wireproof", "version": __version__}
    results = {"tool": tool, "summary": summary, "tests": tests}
    return json_text({"reportFormat": "CTRF", "specVersion": "0.0.0", "results": results}, indent=1)


_STATUSES = ("passed", "failed", "pending", "skipped", "other")


def sarif(gate: Gate) -> str:
    """A result for each reason that keeps nodes from passing, folded by node set: ten thousand
    nodes with one fault are one result.
    """
    groups: dict[tuple[Verdict, str], list[str]] = {}
    for one in _cases(gate):
        if one.verdict != "pass":
            groups.setdefault((one.verdict, one.reason), []).append(one.node)
    rules = [{"id": f"node-{verdict}"} for verdict in dict.fromkeys(key[0] for key in groups)]
    results = [
        {
            "ruleId": f"node-{verdict}",
            "level": _LEVEL[verdict],
            "message": {"text": clean(f"{fold(names)}: {reason}", _LONGEST)},
            "locations": [
                {"logicalLocations": [{"name": clean(name, 200), "kind": "resource"}]}
                for name in names[:100]
            ],
        }
        for (verdict, reason), names in groups.items()
    ]
    driver = {"name": "wireproof", "version": __version__, "rules": rules}
    runs = [{"tool": {"driver": driver}, "results": results}]
    return json_text({"version": "2.1.0", "$schema": _SCHEMA, "runs": runs}, indent=1)
