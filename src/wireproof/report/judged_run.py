"""One part of a report: one run with its judgement, and nothing that was not measured, observed or
concluded.
"""

import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from wireproof.model.claim import Criteria, Limits
from wireproof.model.disclosure import Disclosure
from wireproof.model.fabric import Fabric
from wireproof.model.finding import (
    Finding,
    GroupVerdict,
    Judgement,
    PairVerdict,
    Verdict,
    rank,
)
from wireproof.model.located import Located
from wireproof.model.psm3 import Statistics
from wireproof.model.run import Run
from wireproof.model.setting import Audit
from wireproof.model.tuning import Standing
from wireproof.report.names import fold

# Which of several findings speaks first. Off the path, no other number means anything; a node
# explains its pairs.
_TELLING: tuple[str, ...] = (
    "nothing-measured",
    "shared-memory-suspected",
    "nolocal-shm",
    "off-wire",
    "loopback",
    "wrong-path",
    "striped",
    "tcp-instead-of-rdma",
    "partly-off-wire",
    "ends-disagree",
    "payload-corrupt",
    "library-mismatch",
    "rank-lost",
    "nic-down",
    "nic-unknown",
    "deadline",
    "switch-slow",
    "node-slow",
    "port-slow",
    "link-slow",
    "pair-slow",
    "node-direction-slow",
    "direction-slow",
    "above-ceiling",
    "below-floor",
    "cache-shaped",
    "below-expectation",
    "node-missing",
    "nothing-screened",
    "noise-too-high",
)

CULPRITS = ("switch-slow", "node-slow", "port-slow", "link-slow", "pair-slow")


@dataclass(frozen=True)
class JudgedRun:
    """``lead`` is one paragraph for people; ``standing``: which changes of ours stood on the hosts,
    None where they were not asked.

    ``located``: which node, port, link or switch is slow, one per metric that was screened.
    ``fabric``, where known, says which nodes are drawn together when there are many. ``settings``:
    the audit of its hosts. ``records``: the folders of its launches, in order. ``constants``: those
    of the limits that the user has set. ``settled``: repeats count for the samples that they
    repeat. ``statistics``: PSM3's own counters, None where they were not asked for. ``disclosure``:
    the configuration that it was measured with.
    """

    title: str
    run: Run
    judgement: Judgement
    limits: Limits | None = None
    criteria: Criteria = field(default_factory=Criteria)
    lead: str = ""
    standing: Standing | None = None
    located: tuple[Located, ...] = ()
    fabric: Fabric | None = None
    settings: Audit | None = None
    records: tuple[Path, ...] = ()
    constants: Mapping[str, float] = field(default_factory=dict)
    settled: bool = False
    statistics: tuple[Statistics, ...] | None = None
    disclosure: Disclosure | None = None


def ranked(findings: list[Finding]) -> list[Finding]:
    """Findings, gravest first, then the most telling; the judge's own order is kept among
    equals.
    """
    return sorted(findings, key=_rank)


def grouped(findings: list[Finding]) -> list[list[Finding]]:
    """Ranked findings, those of one code and severity together: a bad node makes many alike."""
    groups: dict[tuple[str, str], list[Finding]] = {}
    for finding in ranked(findings):
        groups.setdefault((finding.severity, finding.code), []).append(finding)
    return list(groups.values())


def _rank(finding: Finding) -> tuple[int, int, float]:
    """Severity, how telling the code is, and of culprits the slowest first."""
    if finding.code in CULPRITS:
        slowdown = finding.evidence.get("slowdown")
        loss = (
            float(slowdown)
            if isinstance(slowdown, (int, float)) and math.isfinite(slowdown)
            else 0.0
        )
        return rank(finding.severity), _TELLING.index(CULPRITS[0]), -loss
    telling = _TELLING.index(finding.code) if finding.code in _TELLING else len(_TELLING)
    return rank(finding.severity), telling, 0.0


def counted(judgement: Judgement) -> list[PairVerdict]:
    """The pairs' results without the samples that a repeat has settled."""
    return [pair for pair in judgement.pairs if not pair.settled]


def results(judgement: Judgement) -> list[PairVerdict | GroupVerdict]:
    """Everything that has a verdict: of pairs, and of ranks that measured together."""
    return [*counted(judgement), *judgement.groups]


def passing(judgement: Judgement) -> str:
    """How many results pass, and how many samples a repeat replaces."""
    judged = results(judgement)
    good = sum(one.verdict == "pass" for one in judged)
    again = len(judgement.pairs) - len(counted(judgement))
    many = "samples that varied too much were" if again > 1 else "sample that varied too much was"
    repeated = f" ({again} {many} measured again)" if again else ""
    return f"{good} of {len(judged)} results pass{repeated}"


def suspected(section: JudgedRun) -> tuple[str, set[str]]:
    """The protocol that is claimed, and the settings that may be the cause of what is slow."""
    link = section.run.claim.link
    blamed = (blame for one in section.located for blame in one.blames)
    named = {cause.setting for blame in blamed for cause in blame.causes if cause.explains}
    said = {finding.evidence.get("cause_setting") for finding in section.judgement.findings}
    found = named | {one for one in said if isinstance(one, str)}
    return link.protocol if link is not None else "", found - {""}


def label(section: JudgedRun) -> str:
    """Who was measured: folded host names, or what stood in for them."""
    names = {host.hostname or host.host for host in section.run.hosts} or {
        claim.host for claim in section.run.claim.hosts
    }
    return fold(names) or "no host"


def is_baseline(section: JudgedRun) -> bool:
    """Whether no wire was claimed (one machine alone): its numbers are a baseline, and none of them
    is held against a link.
    """
    judged = results(section.judgement)
    alone = not section.run.claim.wire and bool(judged)
    return alone and all(one.verdict == "inconclusive" for one in judged)


def short_headline(section: JudgedRun) -> str:
    """The verdict without the details that the finding itself has: up to the first aside. Of what
    is undecided the asides are the reason: they stay.
    """
    aside = r"\. | \(95 % interval| \(and at "
    if section.judgement.verdict != "inconclusive":
        aside = rf"; (?![^;.]* counted )|{aside}"
    return re.split(aside, headline(section), maxsplit=1)[0]


def headline(section: JudgedRun) -> str:
    """The verdict as one sentence in words."""
    judgement = section.judgement
    decisive = [
        finding
        for finding in ranked(judgement.findings)
        if finding.severity in ("fail", "inconclusive")
    ]
    if decisive:
        return decisive[0].message
    if judgement.verdict == "pass":
        count = len(results(judgement))
        proven = "are proven to have crossed the wire and " if judgement.proof == "on-wire" else ""
        if count == 1:
            proven = proven.replace("are", "is", 1)
            return f"The one result {proven}lies within its limits."
        return f"All {count} results {proven}lie within their limits."
    if not results(judgement):
        return "Nothing was measured, so nothing is proven."
    return "The evidence does not allow a verdict."


def one_line(runs: Sequence[JudgedRun], verdict: Verdict) -> str:
    """The verdict of all, who was measured, and the sentence of the first part that has it."""
    telling = next(one for one in runs if one.judgement.verdict == verdict)
    hosts = len({host.host for host in telling.run.claim.hosts}) if telling.run.claim.wire else 0
    who = f"{hosts} nodes" if hosts else os.uname().nodename
    return f"{verdict}: {who}: {headline(telling)}"
