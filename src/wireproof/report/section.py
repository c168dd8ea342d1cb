"""One part of a report: one run with its judgement, and nothing that was not measured, observed or concluded."""

from __future__ import annotations

from dataclasses import dataclass, field

from wireproof.model.claim import Criteria, Limits
from wireproof.model.finding import Finding, Judgement, Verdict
from wireproof.model.run import Run
from wireproof.report.names import fold

__all__ = ["ORDER", "Section", "headline", "label", "ranked", "worst"]

ORDER: tuple[str, ...] = ("fail", "inconclusive", "warning", "note")


@dataclass(frozen=True)
class Section:
    """``lead`` is one paragraph for people; ``changes`` lists what was altered on machines (empty: nothing was)."""

    title: str
    run: Run
    judgement: Judgement
    limits: Limits | None = None
    criteria: Criteria = field(default_factory=Criteria)
    lead: str = ""
    changes: tuple[str, ...] = ()


def ranked(findings: list[Finding]) -> list[Finding]:
    """Findings, gravest first; the judge's own order is kept inside one severity."""
    return sorted(findings, key=lambda finding: ORDER.index(finding.severity))


def worst(verdicts: list[Verdict]) -> Verdict:
    """The verdict of several: any fail fails; zero verdicts, or any inconclusive one, is never a pass."""
    if "fail" in verdicts:
        return "fail"
    return "pass" if verdicts and all(verdict == "pass" for verdict in verdicts) else "inconclusive"


def label(section: Section) -> str:
    """Who was measured: folded host names, or what stood in for them."""
    names = {host.hostname or host.host for host in section.run.hosts} or {
        claim.host for claim in section.run.claim.hosts
    }
    return fold(names) or "no host"


def headline(section: Section) -> str:
    """The verdict as one sentence in words."""
    judgement = section.judgement
    decisive = [finding for finding in ranked(judgement.findings) if finding.severity in ("fail", "inconclusive")]
    if decisive:
        return decisive[0].message
    if judgement.verdict == "pass":
        count = len(judgement.pairs)
        proven = "are proven to have crossed the wire and " if judgement.proof == "on-wire" else ""
        return f"All {count} results {proven}lie within their limits."
    if not judgement.pairs:
        return "Nothing was measured, so nothing is proven."
    return "The evidence does not allow a verdict."
