"""The answer to *why*: the cause with its evidence, or the causes that were ruled out and the next
check. It reports the content of findings and results, and draws no new conclusions.
"""

from collections.abc import Sequence

from wireproof.model import quantity
from wireproof.model.finding import Finding
from wireproof.model.located import LIKELY
from wireproof.model.quantity import first_few
from wireproof.report.judged_run import JudgedRun, counted, ranked, results, suspected
from wireproof.report.names import fold

_SAID = {
    "shared-memory-suspected": "The ranks shared memory on one machine",
    "nolocal-shm": "The library below used shared memory",
    "one-kernel": "The hosts are namespaces of one machine",
    "wrong-host": "A rank ran on a different host than planned",
    "off-wire": "The bytes did not use the wire",
    "loopback": "The bytes went through loopback",
    "wrong-path": "Another NIC carried the traffic",
    "striped": "The traffic was spread over several NICs",
    "partly-off-wire": "Part of the bytes is not on any port",
    "inside-adapter": "The adapter switched the bytes internally",
    "unproven-no-counters": "No counter could be read",
    "unproven-too-few-bytes": "Too few bytes to prove the path",
    "tcp-instead-of-rdma": "Kernel TCP carried the bytes of a link claimed as RDMA",
    "rdma-instead-of-tcp": "RDMA carried the bytes of a link claimed as plain Ethernet",
    "other-traffic": "Other traffic used a port that was measured",
    "above-ceiling": "The number is more than the claimed link can carry",
    "below-floor": "The number is faster than the claimed link allows",
    "payload-corrupt": "Bytes were changed in transit",
    "library-mismatch": "A different MPI library answered",
    "provider-fallback": "libfabric did not use the requested provider",
    "rank-lost": "A rank was lost",
    "large-messages-hang": "Small messages pass, but large messages hang",
    "deadline": "The time limit was reached",
    "points-missing": "Some points were not measured",
    "interrupted": "The run was interrupted",
    "nothing-measured": "Nothing was measured",
    "nic-unknown": "The claimed NIC is not on the host",
    "nic-down": "The claimed NIC has no carrier",
    "unstable": "The numbers do not repeat",
    "noise-too-high": "Too noisy to decide",
    "node-missing": "A node has no samples",
    "nothing-screened": "There is nothing to compare",
    "packet-loss": "Segments were lost and retransmitted",
    "reordering": "Packets overtook each other",
    "no-limit-known": "The link's rate is not known",
    "instrument-only": "No network was measured",
    "no-wire-claimed": "Only one machine took part",
}
"""Findings that are themselves a reason; the others report only that something is slow."""
_HARMLESS = {
    "nic-down": "Nothing is slow, but a link went down",
    "packet-loss": "Nothing is slow, but packets are lost",
    "reordering": "Nothing is slow, but packets overtake each other",
    "retransmits": "Nothing is slow, but packets were retransmitted, dropped or paused",
}
"""Warnings of a passing run: faults that do not cost performance yet."""
_DISTURBED = {
    "oversubscribed",
    "unstable",
    "multimodal",
    "other-traffic",
    "background-traffic",
}
_MOST_SETTINGS = 3
_MOST_ARE_GOOD = 0.9
"""Share of the other results that must pass; inconclusive results rule out nothing."""


def why(section: JudgedRun, decisive: Sequence[Finding]) -> tuple[str, str]:
    """Return the short answer, and a text with evidence, other possible causes or ruled-out causes,
    and the next step.

    ``decisive``: the findings that determine the verdict, most important first.
    """
    if not decisive:
        return _passing(section)
    first = decisive[0]
    advice = f"Next: {first.advice}" if first.advice else ""
    cause = first.evidence.get("cause")
    if isinstance(cause, str) and cause:
        return _caused(first, cause, advice)
    if first.code in _SAID:
        return _SAID[first.code], advice
    found = excluded(section, first)
    parts = [
        _not_enough(first),
        _load(section),
        f"Ruled out: {'; '.join(found)}." if found else "",
        advice,
    ]
    return "No cause found yet", " ".join(part for part in parts if part)


def _passing(section: JudgedRun) -> tuple[str, str]:
    """Return the answer if no finding decides: a fault that does not slow anything down."""
    if section.judgement.verdict != "pass":
        return "Too little evidence", ""
    warnings = [one for one in ranked(section.judgement.findings) if one.severity == "warning"]
    for code, answer in _HARMLESS.items():
        if first := next((one for one in warnings if one.code == code), None):
            return answer, f"{first.message}."
    return "Nothing to explain", ""


def _caused(finding: Finding, cause: str, advice: str) -> tuple[str, str]:
    """Return the answer for a known cause. For a setting, only its value is in the short answer."""
    head, rest = cause, ""
    if "cause_setting" in finding.evidence:
        head, _, rest = cause.partition(", ")
    sure = finding.evidence.get("cause_confidence")
    if isinstance(sure, float) and sure < LIKELY:
        head = f"It may be that {head}"
    said = f"{rest[:1].upper()}{rest[1:]}." if rest else ""
    seen = finding.evidence.get("cause_seen")
    observed = f"Seen: {'; '.join(seen[:2])}." if isinstance(seen, list) and seen else ""
    return head, " ".join(part for part in (said, observed, _about_cause(finding), advice) if part)


def _about_cause(finding: Finding) -> str:
    found = finding.evidence
    sure, others = found.get("cause_confidence"), found.get("other_causes")
    parts = [f"Confidence {sure:.2g}."] if isinstance(sure, float) else []
    if isinstance(others, list) and others:
        parts.append(f"It may also be: {'; '.join(others[:2])}.")
    return " ".join(parts)


def _not_enough(finding: Finding) -> str:
    lacking = finding.evidence.get("not_enough")
    if not (isinstance(lacking, list) and lacking):
        return ""
    shown = first_few(lacking, _MOST_SETTINGS, "; ")
    return f"Settings that differ but do not explain it: {shown}."


def _load(section: JudgedRun) -> str:
    """Return the finding that the hosts were busy, which can slow down anything."""
    seen = (one for one in section.judgement.findings if one.code == "oversubscribed")
    first = next(seen, None)
    return f"Not ruled out: other load ({first.message.rstrip('.')})." if first else ""


def excluded(section: JudgedRun, finding: Finding) -> list[str]:
    """Return the reasons for ``finding`` that the evidence rules out, each in a few words."""
    return [
        *_path(section),
        *_others_are_good(section, finding),
        *_disturbances(section),
        *_compared(finding),
        *_settings(section),
    ]


def _path(section: JudgedRun) -> list[str]:
    judged = results(section.judgement)
    crossed = sum(one.proof == "on-wire" for one in judged)
    if not section.run.claim.wire or not judged or crossed < len(judged):
        return []
    return [f"the path (all {crossed} results crossed the wire)"]


def _others_are_good(section: JudgedRun, finding: Finding) -> list[str]:
    """Rule out the fabric as a whole if a node is slow but the pairs without it are not."""
    node, named = finding.evidence.get("node"), finding.evidence.get("nodes")
    about = {node} if isinstance(node, str) else set(named) if isinstance(named, list) else set()
    if not about:
        return []
    pairs = counted(section.judgement)
    others = [one for one in pairs if not {one.origin_host, one.target_host} & about]
    good = sum(one.verdict == "pass" for one in others)
    if (
        not others
        or good < _MOST_ARE_GOOD * len(others)
        or any(one.verdict == "fail" for one in others)
    ):
        return []
    passed = (
        f"{good} of {quantity.counted(len(others), 'result')} without {fold(about)} pass,"
        " none fails"
    )
    return [f"the fabric as a whole ({passed})"]


def _disturbances(section: JudgedRun) -> list[str]:
    """Rule out other load if the engine checked for it and no finding reports it."""
    codes = {finding.code for finding in section.judgement.findings}
    looked = any(pair.sentinels for point in section.run.points for pair in point.pairs)
    return (
        ["other load on the hosts (none was observed)"] if looked and not codes & _DISTURBED else []
    )


def _compared(finding: Finding) -> list[str]:
    """Return the counters and facts of a culprit that equal those of other hosts."""
    seen = finding.evidence.get("seen")
    lines = seen if isinstance(seen, list) else []
    found = next((line for line in lines if line.startswith("cause: none found (")), "")
    words = found.removeprefix("cause: none found (").removesuffix(")")
    return [f"its counters and facts ({words}: no difference)"] if words else []


def _settings(section: JudgedRun) -> list[str]:
    """Rule out the settings if the audit found no difference that explains the result."""
    audit = section.settings
    if audit is None or suspected(section)[1]:
        return []
    known = {one.id for one in audit.results if one.status in ("pass", "fail", "waived")}
    if not known:
        return []
    return [f"the hosts' settings ({len(known)} were read, and no difference explains it)"]
