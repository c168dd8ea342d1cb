"""Compares two results: of two dates, two MPIs or two fabrics."""

import dataclasses
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from wireproof.model.comparison import LAUNCHES, Comparison, Difference, Source
from wireproof.model.errors import BadInput
from wireproof.model.finding import worst
from wireproof.model.setting import Audit
from wireproof.report.judged_run import JudgedRun
from wireproof.report.names import fold
from wireproof.verdict.comparison import PRACTICAL, ComparedResult, Key, compared, samples_of
from wireproof.workflow.compare_logs import compare_logs
from wireproof.workflow.conditions import conditions, listed, setting_values
from wireproof.workflow.report import ReportSpecification, report
from wireproof.workflow.reporter import Reporter

_FIRST = (
    ("half round trip of 8 B", "pingpong", 8, ""),
    ("stream of 1 MiB", "stream", 1 << 20, ""),
    ("message rate of 8 B", "message_rate", 8, ""),
    ("natural ring of 8 B", "ring", 8, "natural"),
    ("random ring of 8 B", "ring", 8, "random"),
)
HEADLINES = tuple(dict.fromkeys((pattern, size) for _, pattern, size, _ in _FIRST))
"""The numbers that a comparison shows first: latency, bandwidth, message rate, rings."""
_NUMBERED = re.compile(r"-[0-9]+$", re.ASCII)
PLAYED = "numbers of a model say nothing about a machine and are not compared"


@dataclasses.dataclass(frozen=True, kw_only=True)
class CompareSpecification:
    """Two results: folders of checks or measurements, or two logs that ``judge`` reads."""

    a: Path
    b: Path


def compare(specification: CompareSpecification, reporter: Reporter) -> Comparison:
    """Compare every number that both results have, as a ratio with its interval, and list the
    conditions that differ.

    Both results are judged by the current rules. Raises ``BadInput`` if a folder holds no result,
    or a damaged or newer one.
    """
    if specification.a.resolve() == specification.b.resolve():
        raise BadInput(f"{specification.a} is given twice: give two results.")
    logs = [path.is_file() for path in (specification.a, specification.b)]
    if all(logs):
        return compare_logs(specification.a, specification.b)
    if any(logs):
        raise BadInput(
            "a log cannot be compared with a result of wireproof: give two results or two logs."
        )
    rejudged = report(
        ReportSpecification(folders=(specification.a, specification.b), pages=False), reporter
    )
    a, b = ([part.section for part in each.result.parts] for each in rejudged)
    same, differ = _conditions(a, b)
    return Comparison(
        a=source_of(specification.a, a),
        b=source_of(specification.b, b),
        practical=PRACTICAL,
        same=same,
        differ=differ,
        settings=_settings(a[0].settings, b[0].settings),
        rows=compared(
            samples_by_key(a),
            samples_by_key(b),
            HEADLINES,
            launches=min(_launches(a), _launches(b)),
        ),
        notes=_notes(a, b),
    )


def samples_by_key(sections: Sequence[JudgedRun]) -> dict[Key, list[ComparedResult]]:
    """Return the results of a folder's parts by their key."""
    results: dict[Key, list[ComparedResult]] = {}
    for section in sections:
        for key, samples in samples_of(section.judgement, section.run).items():
            results.setdefault(key, []).extend(samples)
    return results


def source_of(folder: Path, sections: Sequence[JudgedRun]) -> Source:
    """Return the one-line description of a folder's result."""
    hosts = {rank.host for section in sections for rank in section.run.claim.hosts}
    return Source(
        name=str(folder),
        hosts=fold(hosts),
        measured=max(section.run.provenance.started for section in sections),
        verdict=worst(section.judgement.verdict for section in sections),
    )


def _conditions(
    a: Sequence[JudgedRun], b: Sequence[JudgedRun]
) -> tuple[list[Difference], list[Difference]]:
    """Return the conditions that are equal and those that differ, each with all values that
    occur.
    """
    left, right = conditions(a, with_hosts=True), conditions(b, with_hosts=True)
    rows = [
        Difference(name=name, a=left.get(name, "not known"), b=right.get(name, "not known"))
        for name in dict.fromkeys([*left, *right])
    ]
    return [row for row in rows if row.a == row.b], [row for row in rows if row.a != row.b]


def _settings(a: Audit | None, b: Audit | None) -> list[Difference]:
    """Return the settings that differ between the hosts of A and of B, of those that both could
    read. Hosts that are in both are compared with themselves.
    """
    if a is None or b is None:
        return []
    left, right = setting_values(a), setting_values(b)
    return [
        difference
        for name in left
        if name in right
        for difference in _of_setting(name, left[name], right[name])
    ]


def _of_setting(name: str, a: Mapping[str, str], b: Mapping[str, str]) -> list[Difference]:
    both = [host for host in a if host in b]
    if not both and set(a.values()) != set(b.values()):
        return [Difference(name=name, a=listed(a), b=listed(b))]
    changed: dict[tuple[str, str], list[str]] = {}
    for host in both:
        if a[host] != b[host]:
            changed.setdefault((a[host], b[host]), []).append(host)
    return [
        Difference(name=f"{name} on {fold(hosts)}", a=before, b=after)
        for (before, after), hosts in changed.items()
    ]


def _notes(a: Sequence[JudgedRun], b: Sequence[JudgedRun]) -> list[str]:
    notes = []
    if min(_launches(a), _launches(b)) < LAUNCHES:
        notes.append(
            "results vary from launch to launch, and one of the results has fewer than three"
            " launches: that variation is not in the intervals (use --profile standard)"
        )
    if any(section.run.played for section in (*a, *b)):
        notes.append(PLAYED)
    if any(section.settings is None for section in (a[0], b[0])):
        notes.append("one of the results has no settings of its hosts: settings are not compared")
    known = {
        (key.pattern, key.message_bytes, key.order)
        for key in (*samples_by_key(a), *samples_by_key(b))
    }
    if absent := [name for name, *of in _FIRST if tuple(of) not in known]:
        notes.append(f"neither result has: {', '.join(absent)} (`measure` gives each)")
    return notes


def _launches(sections: Sequence[JudgedRun]) -> int:
    """Return the number of independent launches of the part with most: their folders are
    numbered.
    """
    return max(
        sum(_NUMBERED.search(folder.name) is not None for folder in section.records)
        for section in sections
    )
