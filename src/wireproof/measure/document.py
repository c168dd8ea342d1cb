"""Judged runs as a document: the answer, the five questions, findings, culprits, the path, the
numbers, and their origin.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from wireproof.model import quantity
from wireproof.model.finding import Finding, worst
from wireproof.model.located import Located
from wireproof.model.setting import Audit
from wireproof.report.answers import answers
from wireproof.report.disclosure import facts, places, trouble
from wireproof.report.document import (
    Cell,
    Document,
    Dots,
    Facts,
    Findings,
    Head,
    Item,
    Part,
    Picture,
    Row,
    Section,
    Table,
    Text,
)
from wireproof.report.failing import unread
from wireproof.report.figure import Chart, Ink
from wireproof.report.flows import NicTraffic, flows
from wireproof.report.judged_run import JudgedRun, grouped, label, short_headline, suspected
from wireproof.report.names import clean, fold
from wireproof.report.results import group_table, result_table
from wireproof.report.rows import ResultTable as Results
from wireproof.report.rows import group_tables, tables
from wireproof.watch.document import proof_section

_MOST_FINDINGS, _MOST_OTHERS = 4, 50
_MOST_UNREAD = 100
_OPEN_ROWS = 40
"""A page folds tables with more rows."""
_METHOD = (
    (
        "Each number is a median over many timed batches. Before timing, messages are sent until "
        "the time per message no longer changes. A batch is long enough that the cost of reading "
        "the clock does not matter, and measuring stops when the 95 % interval is narrow enough "
        "or when the time budget ends. The interval is taken from the order of the measured "
        "values and assumes no particular distribution. No measurement is discarded."
    ),
    (
        "Half round trip is the time of a message there and back, divided by two. It averages "
        "both directions, so every direction is also streamed separately. Goodput counts "
        "payload that the receiver has acknowledged."
    ),
    (
        "Attainable goodput is the line rate less the headers that the protocol needs at this "
        "MTU, and at most what the bus allows. Numbers are judged by their share of the attainable "
        "goodput, never by their share of the line rate. A number above the ceiling or below the "
        "floor fails, just like a number that is too slow."
    ),
    (
        "The path is proven by counters: the bytes that each network interface of both hosts "
        "counted during every point are compared with the payload that was sent. Without such "
        "evidence no result passes."
    ),
)
_DISCLOSED = tuple(Head(name, 9, left=True) for name in ("group", "item", "value", "hosts"))
_PLACES = tuple(
    Head(name, 9 - at, left=at > 0)
    for at, name in enumerate(
        (
            "rank",
            "claimed host",
            "host found",
            "core",
            "NIC",
            "network, IPC namespace",
            "ranks sharing memory",
        )
    )
)


def run_document(runs: Sequence[JudgedRun], title: str, *, brief: bool = False) -> Document:
    """Return one run, or several in the given order. ``brief``: only the parts that fit a terminal;
    otherwise everything, with pictures. Raises ValueError without a run.
    """
    if not runs:
        raise ValueError("a report needs at least one run")
    found = [_run(run, f"run{number}", brief=brief) for number, run in enumerate(runs, 1)]
    verdict = worst([run.judgement.verdict for run in runs])
    parts: tuple[Part, ...] = tuple(found)
    first = next(one for one in found if one.verdict == verdict)
    alike = len({one.answer for one in found}) == 1
    answer = first.answer if alike else f"{first.title}: {first.answer}"
    if len(found) == 1:
        parts = (Text(first.title, "note"), *first.parts)
    if not brief:
        method = tuple(map(Text, _METHOD))
        parts = (*parts, Section("How this was measured, in plain words", method, fold="closed"))
    return Document(title, answer, parts, verdict)


def demo_document(
    found: Mapping[str, str], runs: Sequence[JudgedRun] = (), folder: Path | None = None
) -> Document:
    """Return whether the injected faults were found. ``found``: the report on each fault, "" if it
    was missed. ``folder`` contains the records of ``runs``.
    """
    hits = sum(bool(finding) for finding in found.values())
    good = hits == len(found)
    items = tuple(
        Item("pass", f"{fault}: {finding}", word="found:")
        if finding
        else Item("fail", fault, word="MISSED:")
        for fault, finding in found.items()
    )
    each = tuple(Item(run.judgement.verdict, f"{run.title}: {short_headline(run)}") for run in runs)
    where = f"`wireproof report {folder}`" if folder else "`wireproof demo --out DIR` keeps them:"
    parts: tuple[Part, ...] = (Findings(items),)
    if runs:
        why = "The judgement did not know of the faults. Its result for each measurement:"
        parts = (*parts, Text(why), Findings(each), Text(f"All tables: {where}"))
    answer = f"{hits} of {len(found)} injected faults found."
    return Document("Demo", answer, parts, "pass" if good else "fail")


def when_of(runs: Sequence[JudgedRun]) -> str:
    """Return hosts, link, MPI and start time of the measurement: a line below the title of a
    page."""
    of = [(run.run.claim.link, run.run.provenance) for run in runs]
    rows = (
        (f"{run.title}: {label(run)}" for run in runs),
        (f"{link.name}, {quantity.line_rate(link.line_rate)}" for link, _ in of if link),
        (made.mpi.partition(" (")[0] for _, made in of),
        sorted(made.started for _, made in of if made.started)[:1],
    )
    told = ". ".join(filter(None, ("; ".join(dict.fromkeys(row)) for row in rows)))
    return told.replace("+00:00", " UTC")


def _run(run: JudgedRun, name: str, *, brief: bool) -> Section:
    seen = flows(run.run)
    parts: list[Part] = [Text(run.lead, "note")] if run.lead else []
    parts.append(Findings(tuple(answers(run, seen, advised=not brief)), cards=True))
    parts += _brief_findings(run) if brief else _findings(run, name)
    parts += _located(run, brief=brief)
    parts += _limits(run)
    if run.settings is not None and brief:
        from wireproof.audit.document import worst_part

        parts.append(worst_part(run.settings, *suspected(run)))
    parts += _tables(run, name, brief=True) if brief else _whole(run, name, seen)
    title = clean(f"{run.title}: {label(run)}", 400)
    return Section(title, tuple(parts), run.judgement.verdict, short_headline(run), anchor=name)


def _whole(run: JudgedRun, name: str, seen: Sequence[NicTraffic]) -> Iterator[Part]:
    """Yield the parts that only a page shows."""
    if proof := proof_section(seen, name):
        yield proof
    found = tables(run)
    yield Picture(partial(_pairs, run, found, name))
    yield Picture(partial(_charts, run, found, name))
    yield from _tables(run, name, brief=False)
    yield from _configuration(run, name)
    yield _origin(run)
    yield Picture(partial(_embedded, run, seen, name))


def _charts(run: JudgedRun, found: list[Results], name: str) -> list[Chart]:
    from wireproof.report.figure.file import charts

    return charts(run, found, name)


def _pairs(run: JudgedRun, found: list[Results], name: str) -> list[Ink]:
    """Return pictures of each table of rates: host by host, or leaf by leaf if there are too many
    hosts, followed by every pair for the page's script.
    """
    from wireproof.report.figure.heat import MOST_HOSTS, heat_map, leaf_picture

    inks: list[Ink | None] = []
    for number, table in enumerate(found):
        if table.unit == "ns":
            continue
        many = len({host for row in table.rows for host in row.between}) > MOST_HOSTS
        if many:
            from wireproof.report.figure.pairs import pair_map

            inks += [leaf_picture(run, table), pair_map(table, f"{name}-map{number}")]
        else:
            inks.append(heat_map(table))
    return [ink for ink in inks if ink is not None]


def _embedded(run: JudgedRun, seen: Sequence[NicTraffic], name: str) -> list[Ink]:
    from wireproof.report.html import embedded

    return [Ink(embedded(run, seen, name))]


def _findings(run: JudgedRun, name: str) -> Iterator[Part]:
    """Yield the findings that decide the verdict in full; warnings and notes are folded."""
    groups = grouped(run.judgement.findings)
    items = [_item(group, f"{name}-{at}") for at, group in enumerate(groups, 1)]
    first = tuple(item for item in items if item.tone in ("fail", "inconclusive"))
    others = tuple(item for item in items if item not in first)
    if first:
        yield Section("Findings", (Findings(first),))
    if others:
        codes = ", ".join(dict.fromkeys(item.code for item in others))
        kinds = quantity.counted(len(others), "kind")
        yield Section(f"{kinds} of warnings and notes: {codes}", (Findings(others),), fold="closed")


def _brief_findings(run: JudgedRun) -> Iterator[Part]:
    """Yield the worst findings in full, the others by their codes."""
    groups = grouped(run.judgement.findings)
    decisive = [group for group in groups if group[0].severity in ("fail", "inconclusive")]
    shown = decisive[:_MOST_FINDINGS] or groups[:2]
    if shown:
        yield Findings(tuple(_item(group, "") for group in shown))
    counts: dict[str, int] = {}
    for group in groups:
        if group not in shown:
            counts[group[0].code] = counts.get(group[0].code, 0) + len(group)
    if counts:
        codes = ", ".join(f"{code} ({count})" for code, count in counts.items())
        yield Text(f"also, in the report: {codes}", "note")


def _item(group: Sequence[Finding], anchor: str) -> Item:
    """Return the first finding of a kind, with the subjects of the others."""
    first, *others = group
    details = [("next", first.advice)] if first.advice else []
    if others:
        whom = "; ".join(dict.fromkeys(one.subject for one in others[:5] if one.subject))
        more = "; …" if len(others) > 5 else ""
        details.insert(0, (f"and {len(others)} more of the same kind", whom + more))
    rows = [(_named(name), _evidence(name, item)) for name, item in first.evidence.items()]
    rows += [("another", clean(one.message, 600)) for one in others[:_MOST_OTHERS]]
    anchor = f"{anchor}-{re.sub(r'[^a-z0-9]+', '-', first.code.lower())[:40]}" if anchor else ""
    return Item(
        first.severity, first.message, first.code, tuple(details), more=tuple(rows), anchor=anchor
    )


def _named(name: str) -> str:
    """Return the name without its unit, which is printed with the value: ``median_bytes_per_s`` ->
    ``median``."""
    for unit in ("_bytes_per_s", "_bits_per_s", "_bytes", "_ns"):
        name = name.removesuffix(unit)
    return clean(name, 60).replace("_", " ")


def _evidence(name: str, value: str | float | list[str] | None) -> str:
    """Return evidence in the unit at the end of its name (``…_bytes``, ``…_bytes_per_s``,
    ``…_ns``, ``…_bits_per_s``).
    """
    match value:
        case None:
            return "unknown"
        case bool():
            return "yes" if value else "no"
        case list():
            return clean(fold(value) if len(value) > 4 else ", ".join(value), 300)
        case str():
            return clean(value, 300)
    return _number(name, value)


def _number(name: str, value: float) -> str:
    if name.endswith("bytes_per_s"):
        return f"{quantity.megabytes(value)} MB/s"
    if name.endswith("bits_per_s"):
        return quantity.line_rate(value)
    if name.endswith("bytes"):
        return quantity.volume(value)
    if name.endswith("_ns"):
        return f"{quantity.microseconds(value)} µs"
    return f"{value:,}" if isinstance(value, int) else quantity.significant(value, 4)


def _located(run: JudgedRun, *, brief: bool) -> Iterator[Section]:
    if not run.located:
        return
    from wireproof.locate.document import located_section

    for one in run.located:
        picture = () if brief else (Picture(partial(_strip, run, one)),)
        yield located_section(one, each=not brief, more=picture)


def _strip(run: JudgedRun, located: Located) -> list[Ink]:
    from wireproof.report.figure.strip import strip_of

    found = strip_of(run, located)
    return [found] if found is not None else []


def _limits(run: JudgedRun) -> Iterator[Part]:
    """Yield the link, its limits, and how the numbers compare with published ones."""
    limits, link = run.limits, run.run.claim.link
    rows: list[tuple[str, Cell]] = []
    if link is not None:
        source = f" ({link.source})" if link.source else ""
        rows.append(
            ("link", f"{link.name}, line rate {quantity.line_rate(link.line_rate)}{source}")
        )
    bounds = []
    if limits is not None and (rate := limits.attainable_bytes_per_s):
        line = quantity.line_rate(rate * 8)
        bounds.append(f"attainable {quantity.megabytes(rate)} MB/s ({line})")
    if limits is not None and limits.floor_ns:
        bounds.append(f"latency floor {quantity.microseconds(limits.floor_ns)} µs")
    rows += [("limits", ", ".join(bounds))] if bounds else []
    for place in run.judgement.places:
        dotted = place.faster_than is not None
        rows.append(("published", Dots.of(place) if dotted else place.sentence))
    if rows:
        yield Facts(tuple(rows))


def _tables(run: JudgedRun, name: str, *, brief: bool) -> Iterator[Part]:
    findings = run.judgement.findings
    shown = [
        (result_table(one, findings, f"{name}-table{at}", brief=brief), len(one.rows))
        for at, one in enumerate(tables(run), 1)
    ]
    shown += [
        (group_table(one, f"{name}-group{at}", brief=brief), len(one.rows))
        for at, one in enumerate(group_tables(run), 1)
    ]
    for table, count in shown:
        fold = "open" if len(table.rows) <= _OPEN_ROWS else "closed"
        title = f"{table.title} ({quantity.counted(count, 'result')})"
        yield table if brief else _folded(title, table, fold=fold)


def _folded(title: str, table: Table, *more: Part, fold: str = "closed") -> Section:
    bare = Table(table.heads, table.rows, note=table.note, most=table.most, name=table.name)
    return Section(title, (bare, *more), fold="open" if fold == "open" else "closed")


def _configuration(run: JudgedRun, name: str) -> Iterator[Part]:
    """Yield settings that fail, the disclosure, and settings that could not be read."""
    if run.settings is not None:
        yield from _settings(run, run.settings, name)
    if (found := run.disclosure) is not None:
        rows = tuple(
            Row(
                (one.group, one.name, one.value or f"not known: {one.why}", fold(one.hosts)),
                "" if one.value else "inconclusive",
            )
            for one in found.items
        )
        known = sum(bool(one.value) for one in found.items)
        title = f"Configuration disclosure ({known} items known, {len(rows) - known} not)"
        note = (
            "The measured configuration, for comparing or repeating the run. Hosts are"
            " named if they differ."
        )
        table = Table(_DISCLOSED, rows, note=note, most=len(rows), name=f"{name}-disclosure")
        yield _folded(title, table)


def _settings(run: JudgedRun, audit: Audit, name: str) -> Iterator[Part]:
    from wireproof.audit.document import settings_table

    table, is_cause = settings_table(audit, f"{name}-settings", *suspected(run))
    if count := len(table.rows):
        title = f"{quantity.counted(count, 'setting')} of these hosts are wrong for the fabric"
        yield _folded(title, table, fold="open" if is_cause else "closed")
    if missing := unread(audit.results)[:_MOST_UNREAD]:
        rows = tuple((one.who, f"{', '.join(one.ids)}: {one.reason}") for one in missing)
        yield Section("Settings that could not be read", (Facts(rows),), fold="closed")


def _origin(run: JudgedRun) -> Section:
    """Return limits with their arithmetic, missing points, the command that repeats the run,
    provenance and placement.
    """
    lines = trouble(run)
    limits = run.limits
    derived = [*(limits.derivation if limits else []), _criteria(run)]
    sources = [f"Sources: {'; '.join(limits.sources)}"] if limits and limits.sources else []
    items = run.disclosure.items if run.disclosure else []
    again = next((one.value for one in items if one.name == "command that repeats it"), "")
    parts: list[Part] = [
        Section("Limits", tuple(Text(line, mark="-") for line in (*derived, *sources)))
    ]
    if lines:
        missing = tuple(Text(line, mark="-") for line in lines)
        parts.append(Section("Missing points and errors", missing))
    parts += [Section("The command that repeats it", (Text(again),))] if again else []
    parts.append(Section("Provenance", (Facts(tuple(facts(run))),)))
    if rows := tuple(map(Row, places(run))):
        title = "Actual placement, as the engine found it"
        parts.append(Section(title, (Table(_PLACES, rows, most=len(rows)),)))
    title = "Limits, provenance and missing points"
    return Section(title, tuple(parts), fold="open" if lines else "closed")


def _criteria(run: JudgedRun) -> str:
    used = run.criteria
    low, high = quantity.percent(used.on_wire_min), quantity.percent(used.on_wire_max)
    parts = (
        f"at least {quantity.percent(used.min_efficiency)} of attainable",
        f"the slower direction at least {quantity.percent(used.direction_ratio)} of the other",
        f"at most {quantity.percent(used.ceiling_tolerance)} above the ceiling",
        f"at most {quantity.percent(used.floor_tolerance)} below the floor",
        f"{low} to {high} of the payload seen on the claimed NICs",
        f"at most {quantity.percent(used.stray_share)} of it on any other NIC",
    )
    return f"Judged by: {'; '.join(parts)}."
