"""One run of a report with its judgement: only measurements, observations and conclusions."""

import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from wireproof.model import gathered
from wireproof.model.claim import Criteria, Limits
from wireproof.model.finding import (
    Finding,
    GroupVerdict,
    Judgement,
    PairVerdict,
    Verdict,
    rank,
)
from wireproof.model.located import Fabric, Located
from wireproof.model.psm3 import Statistics
from wireproof.model.run import Run
from wireproof.model.setting import Audit, Disclosure
from wireproof.model.tuning import Standing
from wireproof.report.names import fold

# Order of importance among findings. If traffic is off the path, no other number means anything; a
# slow node explains its pairs.
_TELLING: tuple[str, ...] = (
    "interrupted",
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
    "large-messages-hang",
    "deadline",
    "other-traffic",
    "packet-loss",
    "reordering",
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
    """One run with its judgement and everything that reports show about it.

    ``lead``: a paragraph for readers. ``standing``: changes by wireproof in force on the hosts,
    None if the hosts were not asked. ``located``: the slow nodes, ports, links and switches, one
    entry per screened metric. ``fabric``: if known, determines which nodes are drawn together.
    ``settings``: audit of the hosts. ``records``: folders of the launches, in order. ``constants``:
    limits that the user set. ``settled``: a repeat replaces the samples that it repeats.
    ``statistics``: PSM3's counters, None if they were not requested. ``disclosure``: the
    configuration that was measured.
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
    """Return the findings, worst severity first, then the most important; otherwise in the order of
    the judgement.
    """
    return sorted(findings, key=_rank)


def grouped(findings: list[Finding]) -> list[list[Finding]]:
    """Return ranked findings, grouped by code and severity, because a bad node causes many similar
    findings.
    """
    groups = gathered(((finding.severity, finding.code), finding) for finding in ranked(findings))
    return list(groups.values())


def _rank(finding: Finding) -> tuple[int, int, float]:
    """Return severity, importance of the code, and the slowest culprit, the most lossy host or the
    busiest port first.
    """
    code = CULPRITS[0] if finding.code in CULPRITS else finding.code
    found = (finding.evidence.get(name) for name in ("slowdown", "per_million", "bytes_per_s"))
    sizes = [one for one in found if isinstance(one, (int, float)) and math.isfinite(one)]
    telling = _TELLING.index(code) if code in _TELLING else len(_TELLING)
    return rank(finding.severity), telling, -max(sizes, default=0.0)


def counted(judgement: Judgement) -> list[PairVerdict]:
    """Return the results of pairs without samples that a repeat replaces."""
    return [pair for pair in judgement.pairs if not pair.settled]


def results(judgement: Judgement) -> list[PairVerdict | GroupVerdict]:
    """Return everything that has a verdict: results of pairs, and of ranks that measured
    together.
    """
    return [*counted(judgement), *judgement.groups]


def passing(judgement: Judgement) -> str:
    """Return a phrase with the number of results that pass and of samples that a repeat
    replaces."""
    judged = results(judgement)
    good = sum(one.verdict == "pass" for one in judged)
    again = len(judgement.pairs) - len(counted(judgement))
    many = "samples that varied too much were" if again > 1 else "sample that varied too much was"
    repeated = f" ({again} {many} measured again)" if again else ""
    return f"{good} of {len(judged)} results pass{repeated}"


def suspected(section: JudgedRun) -> tuple[str, set[str]]:
    """Return the claimed protocol, and the settings that may be the cause of the slow results."""
    link = section.run.claim.link
    blamed = (blame for one in section.located for blame in one.blames)
    named = {cause.setting for blame in blamed for cause in blame.causes if cause.explains}
    said = {finding.evidence.get("cause_setting") for finding in section.judgement.findings}
    found = named | {one for one in said if isinstance(one, str)}
    return link.protocol if link is not None else "", found - {""}


def label(section: JudgedRun) -> str:
    """Return the folded names of the hosts, or of the claimed hosts if no host took part."""
    names = {host.hostname or host.host for host in section.run.hosts} or {
        claim.host for claim in section.run.claim.hosts
    }
    return fold(names) or "no host"


def is_baseline(section: JudgedRun) -> bool:
    """Return True if no wire was claimed (one machine alone): the numbers are then a baseline and
    not compared with a link.
    """
    judged = results(section.judgement)
    alone = not section.run.claim.wire and bool(judged)
    return alone and all(one.verdict == "inconclusive" for one in judged)


def short_headline(section: JudgedRun) -> str:
    """Return the verdict without details that the finding contains, cut at the first aside. If the
    result is inconclusive, asides give the reason and stay.
    """
    aside = r"\. | \(95 % interval| \(and at "
    if section.judgement.verdict != "inconclusive":
        aside = rf"; (?![^;.]* counted )|{aside}"
    return re.split(aside, headline(section), maxsplit=1)[0]


def headline(section: JudgedRun) -> str:
    """Return the verdict as one sentence."""
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
    """Return the overall verdict, the hosts, and the sentence of the first run with that
    verdict.
    """
    telling = next(one for one in runs if one.judgement.verdict == verdict)
    hosts = len({host.host for host in telling.run.claim.hosts}) if telling.run.claim.wire else 0
    who = f"{hosts} nodes" if hosts else os.uname().nodename
    return f"{verdict}: {who}: {headline(telling)}"
