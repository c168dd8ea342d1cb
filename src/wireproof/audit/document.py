"""An audit as a document (failures in full, the worst expected effect first; settings that could
not be read; settings that are right) and in the formats of other programs.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from html import escape  # sufficient for XML; importing xml.sax costs 10 MB

from wireproof.model import gathered
from wireproof.model.quantity import counted, first_few
from wireproof.model.setting import Audit, AuditResult, AuditResults, Read, Setting, Status
from wireproof.report.document import (
    Document,
    Facts,
    Findings,
    Head,
    Item,
    Part,
    Row,
    Section,
    Table,
    Text,
    Tone,
)
from wireproof.report.failing import (
    Failing,
    Unread,
    carrier_of,
    effect_text,
    failing,
    unread,
    who,
)
from wireproof.report.gate import family, label_text
from wireproof.report.json import json_text
from wireproof.report.names import clean, fold
from wireproof.version import version

_REST: tuple[Status, ...] = ("waived", "pass", "not-applicable")
_WORDS: dict[Status, str] = {"not-applicable": "n/a"}
_TONES: dict[Status, Tone] = {"pass": "pass", "waived": "warning", "not-applicable": "note"}
_MOST = 5
"""Maximum number of settings that a check lists."""
_MOST_REASONS, _MOST_NAMES = 9, 4
"""Maximum number of reasons and settings that a report lists."""
_SETTINGS = {
    "setting": "setting",
    "hosts": "hosts",
    "is": "is",
    "should be": "should_be",
    "why, expected effect": "why",
    "fix, undo": "fix_and_undo",
}
"""Columns with their names in a CSV file."""
_TABLE = (
    Head("setting", 9, left=True),
    Head("hosts", 7, left=True),
    Head("is", 6, left=True),
)


def audit_document(audit: Audit, *, everything: bool = False) -> Document:
    """Return the audit. ``everything``: show all names and reasons, and the settings that do not
    fail."""
    failed, missing = failing(audit.results), unread(audit.results)
    parts: list[Part] = []
    if failed:
        parts.append(Findings(tuple(map(_failed, failed))))
    if missing:
        most = len(missing) if everything else _MOST_REASONS
        items = tuple(_unread(each, everything=everything) for each in missing)
        parts.append(Section("Could not be read", (Findings(items, most),)))
    rest = [each for each in audit.results if each.status in _REST] if everything else []
    if rest:
        rows = tuple(map(_row, _folded(rest)))
        parts.append(
            Section("Other settings", (Table(_TABLE, rows, most=len(rows)),), fold="closed")
        )
    parts += [Text(f"ignored catalogue entry: {why}", "warning") for why in audit.skipped]
    counts = AuditResults.of(audit.results).statuses()
    words = ", ".join(f"{count} {_WORDS.get(name, name)}" for name, count in counts.most_common())
    parts.append(Text(f"each setting on each host and interface: {words or 'nothing'}", "note"))
    against = f"against {audit.against}" if audit.against else f"for {audit.profile}"
    title = f"Settings of {fold(audit.hosts)} {against}"
    answer = _answer(audit, [each.id for each in failed])
    return Document(title, answer, tuple(parts), audit.verdict)


def worst_part(audit: Audit, protocol: str = "", causes: Collection[str] = ()) -> Section:
    """Return the failures with the largest effects on the transport of the messages. ``causes``:
    possible causes of the slow results, which come first.
    """
    failed = failing(audit.results, carrier_of(audit.results, protocol), causes)
    title = f"settings: {_answer(audit, [each.id for each in failed])}"
    if not failed:
        return Section(title, ())
    more = f"{len(failed) - _MOST} more fail; " if len(failed) > _MOST else ""
    next_ = f"{more}`wireproof audit` explains them, `wireproof tune plan` lists the changes"
    return Section(title, (Findings(tuple(map(_worst, failed[:_MOST]))), Text(next_)))


def settings_table(
    audit: Audit, name: str, protocol: str = "", causes: Collection[str] = ()
) -> tuple[Table, bool]:
    """Return a table with a row for each failing setting, and whether the first may be the cause of
    the slow results.

    The claimed ``protocol`` and ``causes`` determine the order.
    """
    found = failing(audit.results, carrier_of(audit.results, protocol), causes)
    heads = tuple(Head(title, 9, left=True, name=column) for title, column in _SETTINGS.items())
    note = "Possible causes come first, then the settings by the largest expected effect."
    table = Table(heads, tuple(map(_setting, found)), note=note, most=len(found), name=name)
    return table, bool(found) and found[0].cause


def _setting(one: Failing) -> Row:
    expected = f"Expected effect: {one.expected}." if one.expected else ""
    why = " ".join(part for part in (one.why, one.others, expected) if part)
    name = f"{one.id} (may be the cause)" if one.cause else one.id
    return Row((name, one.who, one.values, one.wanted, why, one.mend))


def explained_document(
    settings: Sequence[Setting], results: Sequence[AuditResult] = ()
) -> Document:
    """Return the catalogue's entries for the settings, with their values on the hosts of
    ``results``.
    """
    return Document("Settings", "", tuple(_explained(each, results) for each in settings))


def _explained(setting: Setting, results: Sequence[AuditResult]) -> Section:
    groups = gathered(
        ((each.seen, each.status, "" if each.seen else each.message), each)
        for each in results
        if each.id == setting.id
    )
    now = tuple((f"now on {who(group)}", _now(setting, group[0])) for group in groups.values())
    title = f"{setting.id}: {setting.title}"
    return Section(title, (Text(setting.meaning), Facts((*entry_rows(setting)[1:], *now))))


def _now(setting: Setting, result: AuditResult) -> str:
    word = _WORDS.get(result.status, result.status)
    if result.status in ("pass", "fail", "waived"):
        return f"{result.seen or 'empty'} ({word})"
    return f"{word}, {result.message.removeprefix(f'{setting.title}: ')}"


def _answer(audit: Audit, failed: Sequence[str]) -> str:
    """Return one sentence. ``failed``: the settings that fail, worst first."""
    hosts = fold(audit.hosts)
    right = f"as in {audit.against}" if audit.against else f"right for {audit.profile}"
    if failed:
        wrong = f"not {right}" if audit.against else f"wrong for {audit.profile}"
        verb = "is" if len(failed) == 1 else "are"
        settings = f"{counted(len(failed), 'setting')} of {hosts}"
        return f"{settings} {verb} {wrong}: {first_few(failed, _MOST_NAMES)}"
    results = AuditResults.of(audit.results)
    passed, missing = (
        len({each.id for each in results.distinct() if each.status == status})
        for status in ("pass", "unknown")
    )
    if not any(each.status != "not-applicable" for each in results.distinct()):
        return f"no setting that was looked for applies to {hosts}: nothing was judged"
    verb = "is" if passed == 1 else "are"
    rest = f"{counted(passed, 'setting')} of {hosts} {verb} {right}"
    unknown = f"{counted(missing, 'setting')} could not be read or judged"
    return "; ".join([unknown] * (missing > 0) + [rest] * (passed > 0 or not missing))


def _failed(failed: Failing) -> Item:
    details = (
        ("why", failed.why),
        ("hosts differ", failed.others),
        ("expected effect", failed.expected),
        ("severity", failed.severity),
        ("change", failed.mend),
    )
    text = f"{failed.id} on {failed.who}: {failed.values}, should be {failed.wanted}"
    return Item("fail", text, details=tuple(each for each in details if each[1]))


def _worst(failed: Failing) -> Item:
    effect = f" ({failed.expected})" if failed.expected else ""
    cause = ": may be the cause" if failed.cause else ""
    text = f"{failed.id} on {failed.who}: {failed.values}, should be {failed.wanted}"
    return Item("", f"{text}{effect}{cause}")


def _unread(missing: Unread, *, everything: bool) -> Item:
    names = first_few(missing.ids, len(missing.ids) if everything else _MOST_NAMES)
    text = f"{missing.who}: {missing.reason}"
    return Item("inconclusive", text, details=(("settings", names),), word="UNKNOWN")


def _folded(results: Iterable[AuditResult]) -> list[list[AuditResult]]:
    """Group results with the same setting, value and message, ordered by status."""
    ordered = sorted(results, key=lambda each: _REST.index(each.status))
    groups = gathered(
        ((each.id, each.status, each.seen, each.wanted, each.message), each) for each in ordered
    )
    return list(groups.values())


def _row(group: Sequence[AuditResult]) -> Row:
    first = group[0]
    value = first.seen if first.seen and first.status == "pass" else first.message
    word = _WORDS.get(first.status, first.status)
    return Row((first.id, who(group), f"{word}: {value}"), _TONES[first.status])


def _place(read: Read) -> str:
    if read.file == "bios":
        return "BIOS"
    if read.file.startswith(("pci/", "pci-host/")):
        return f"PCI configuration space, {read.file.rpartition('/')[2]}"
    if read.file.startswith("mlxconfig/"):
        return f"mlxconfig -e q of an archive, {read.file.rpartition('/')[2]}"
    return read.file or " ".join(read.command)


def entry_rows(setting: Setting) -> list[tuple[str, str]]:
    """Return the catalogue's entry for a setting, as (heading, text); the first has no heading."""
    wishes = (setting.wanted or setting.good).items()
    wanted = [text if profile == "any" else f"{profile}: {text}" for profile, text in wishes]
    texts = {
        "": setting.meaning,
        "read from": ", ".join(map(_place, setting.reads)),
        "called": "; ".join(
            f"{', '.join(names)} ({maker})" if maker != "any" else ", ".join(names)
            for maker, names in setting.names.items()
        ),
        "alternatively shown by": ", ".join(each.sign for each in setting.inferred),
        "unit": setting.unit,
        "default": setting.default,
        "range": setting.range,
        "counts where": "" if setting.applies == "true" else setting.applies,
        "should be": "; ".join(wanted),
        "undecided if": setting.doubt.when if setting.doubt else "",
        "why": setting.why,
        "expected effect": effect_text(setting.effect),
        "changed by": _changed_by(setting),
        "since": setting.since,
        "until": setting.until,
        "source": setting.source,
    }
    return [(name, text) for name, text in texts.items() if text]


def _changed_by(setting: Setting) -> str:
    """Return the command that changes the setting, otherwise the instructions for a person."""
    fix = setting.fix
    if fix is None:
        return ""
    if fix.value or fix.line:
        return f"wireproof tune apply {setting.id}"
    kernel = f"kernel argument {fix.kernel}" if fix.kernel else ""
    return "; ".join(step for step in (kernel, fix.by_hand) if step)


# --- The result of an audit for other programs: SARIF 2.1.0, JUnit XML, OpenMetrics, Node
# Health Check.

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
        **({"properties": {"severity": one.severity}} if one.severity else {}),
    }


def _junit(audit: Audit) -> str:
    """Return a test suite for each host with a test case for each setting.

    A setting that could not be read is an ``error``: a skipped case would look like one without a
    problem.
    """
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', "<testsuites>"]
    by_host = gathered((one.host, one) for one in audit.results)
    for host in audit.hosts:
        mine = by_host.get(host, [])
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
    grave: dict[tuple[str, str], int] = {}
    failed: dict[tuple[str, str, str], None] = {}
    for one in audit.results:
        key = (label_text(one.host), one.status)
        counts[key] = counts.get(key, 0) + 1
        if one.status == "fail" and one.severity:
            of = (label_text(one.host), one.severity)
            grave[of] = grave.get(of, 0) + 1
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
    lines += family(
        "wireproof_audit_severity",
        "gauge",
        "Settings of a node that fail, by their severity.",
        [
            f'wireproof_audit_severity{{node="{node}",severity="{severity}"}} {count}'
            for (node, severity), count in grave.items()
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
    told = f"{counted(len(fails), 'setting')} to fix: {names}" if fails else open_
    told = told if fails or read else "no setting applies"
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
