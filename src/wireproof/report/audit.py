"""The result of an audit for other programs: SARIF 2.1.0, JUnit XML, OpenMetrics, Node Health
Check.
"""

from collections.abc import Callable
from html import escape  # all that XML needs; xml.sax costs 10 MB of imports

from wireproof.model.quantity import counted
from wireproof.model.setting import Audit, AuditResult, Status
from wireproof.report.failing import failing, unread
from wireproof.report.gate.lines import family, label_text
from wireproof.report.json.encode import json_text
from wireproof.report.names import clean, fold
from wireproof.version import version

_LEVELS: dict[Status, str] = {"fail": "error", "unknown": "warning"}


def _sarif(audit: Audit) -> str:
    """Return Static Analysis Results Interchange Format: a result for each failure and each
    unknown.
    """
    shown = [one for one in audit.results if one.status in _LEVELS]
    rules = {one.id: {"id": one.id, "shortDescription": {"text": one.id}} for one in shown}
    driver = {
        "name": "wireproof",
        "version": version(),
        "rules": list(rules.values()),
    }
    document = {
        "version": "2.1.0",
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "runs": [{"tool": {"driver": driver}, "results": [_sarif_result(one) for one in shown]}],
    }
    return json_text(document, indent=1)


def _sarif_result(one: AuditResult) -> dict[str, object]:
    place = one.evidence[-1].partition(":")[0] if one.evidence else one.host
    where = {"artifactLocation": {"uri": f"{one.host}{place if place.startswith('/') else ''}"}}
    text = f"{one.host} {one.instance}: {one.seen or 'not read'}, should be {one.wanted}."
    return {
        "ruleId": one.id,
        "level": _LEVELS[one.status],
        "message": {"text": clean(f"{text} {one.message}", 1000)},
        "locations": [{"physicalLocation": where}],
    }


def _junit(audit: Audit) -> str:
    """Return a test suite for each host with a test case for each setting.

    A setting that could not be read is an ``error``: a skipped case would look like one without a
    problem.
    """
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', "<testsuites>"]
    for host in audit.hosts:
        mine = [one for one in audit.results if one.host == host]
        fails = sum(one.status == "fail" for one in mine)
        errors = sum(one.status == "unknown" for one in mine)
        skips = sum(one.status in ("not-applicable", "waived") for one in mine)
        lines.append(
            f"<testsuite name={_quoted(clean(host, 200))} tests='{len(mine)}'"
            f" failures='{fails}' errors='{errors}' skipped='{skips}'>"
        )
        lines += [_case(one) for one in mine]
        lines.append("</testsuite>")
    return "\n".join([*lines, "</testsuites>"])


def _quoted(text: str) -> str:
    return f'"{escape(text)}"'


def _case(one: AuditResult) -> str:
    name = _quoted(clean(f"{one.id} {one.instance}".strip(), 200))
    text = _quoted(clean(one.message, 1000))
    head = f"<testcase classname={_quoted(clean(one.host, 200))} name={name}"
    if one.status == "pass":
        return f"{head}/>"
    if one.status == "fail":
        detail = escape(clean(f"{one.seen}, should be {one.wanted}. {one.fix}", 2000))
        return f"{head}><failure message={text}>{detail}</failure></testcase>"
    kind = "error" if one.status == "unknown" else "skipped"
    return f"{head}><{kind} message={text}/></testcase>"


def _openmetrics(audit: Audit) -> str:
    """Return metrics for node_exporter's text file collector: the number of settings of each node
    by status, and a series for each setting that fails.
    """
    counts: dict[tuple[str, str], int] = {}
    failed: dict[tuple[str, str, str], None] = {}
    for one in audit.results:
        key = (label_text(one.host), one.status)
        counts[key] = counts.get(key, 0) + 1
        if one.status == "fail":
            failed[(label_text(one.host), label_text(one.id), label_text(one.instance))] = None
    lines = family(
        "wireproof_audit_settings",
        "gauge",
        "Settings of a node by their status.",
        [
            f'wireproof_audit_settings{{node="{node}",status="{status}"}} {count}'
            for (node, status), count in counts.items()
        ],
    )
    lines += family(
        "wireproof_audit_failed",
        "gauge",
        "A setting that fails.",
        [
            f'wireproof_audit_failed{{node="{node}",setting="{name}",instance="{of}"}} 1'
            for node, name, of in failed
        ],
    )
    return "\n".join([*lines, "# EOF"])


def _nhc(audit: Audit) -> str:
    """Return ``ERROR:  wireproof:  ...`` on one line, in the form of Node Health Check's log
    lines.
    """
    fails, verdict = failing(audit.results), audit.verdict
    names = ", ".join(f"{one.id} on {one.who}" for one in fails)
    read = sum(len(one.ids) for one in unread(audit.results))
    open_ = f"{counted(read, 'setting')} could not be read"
    told = f"{counted(len(fails), 'setting')} to mend: {names}" if fails else open_
    if verdict == "pass":
        return clean(f"OK:  wireproof:  settings of {fold(audit.hosts)}", 1000)
    return clean(f"ERROR:  wireproof:  {verdict}: settings of {fold(audit.hosts)}: {told}", 1000)


FORMS: dict[str, Callable[[Audit], str]] = {
    "sarif": _sarif,
    "junit": _junit,
    "openmetrics": _openmetrics,
    "nhc": _nhc,
}
"""Each form by the name that ``--format`` has for it."""
