"""What an audit found, for people: fails first, the worst expected effect first, hosts folded."""

from __future__ import annotations

import textwrap
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from wireproof.model.setting import Audit, AuditResult, Effect, Read, Setting, Status
from wireproof.report.names import fold
from wireproof.report.text.look import Look

__all__ = [
    "audit_lines",
    "effect_text",
    "explained",
    "folded_fails",
    "setting_rows",
    "who",
    "worst_lines",
]

_ORDER: tuple[Status, ...] = ("fail", "unknown", "waived", "pass", "not-applicable")
_WORDS: dict[Status, str] = {
    "fail": "FAIL",
    "unknown": "UNKNOWN",
    "waived": "waived",
    "pass": "pass",
    "not-applicable": "n/a",
}
_MOST = 5
"""Settings that a check names."""
_SURE = {"measured": 1.0, "vendor": 0.9, "literature": 0.7, "practice": 0.6, "estimate": 0.3}
_WEIGHTS = {"correctness": 3.0, "availability": 2.0, "none": 0.0}


def audit_lines(audit: Audit, look: Look, *, everything: bool = False) -> list[str]:
    """Fails in full; the rest as counts, or each in one line with ``everything``."""
    counts = Counter(result.status for result in audit.results)
    lines = [_head(audit, counts, look)]
    for group in folded_fails(audit.results):
        lines += _failed(group, look)
    for status in ("unknown", "waived", "pass", "not-applicable"):
        groups = _folded(audit.results, status)
        if groups and (everything or status == "unknown"):
            lines += [_brief(group, look) for group in groups]
    lines += [look.say(f"left out of the catalogue: {why}") for why in audit.skipped]
    return lines


def worst_lines(audit: Audit, look: Look) -> list[str]:
    """The fails with the largest effects, a line or two each; how many more there are."""
    groups = folded_fails(audit.results)
    lines = [_head(audit, Counter(result.status for result in audit.results), look)]
    for group in groups[:_MOST]:
        one = group[0]
        effect = effect_text(one.expected_effect) if one.expected_effect else ""
        what = f"{one.id} on {who(group)}: {one.seen or 'not set'}, should be {one.wanted}"
        lines += _wrapped(f"{what} ({effect})" if effect else what, look, "  ", "    ")
    more = f"{len(groups) - _MOST} more fail; " if len(groups) > _MOST else ""
    return [*lines, f"  {more}`wireproof audit` says why and what mends them"] if groups else lines


def _head(audit: Audit, counts: Counter[Status], look: Look) -> str:
    said = ", ".join(f"{counts[status]} {_WORDS[status]}" for status in _ORDER if counts[status])
    return look.say(f"settings of {fold(audit.hosts)} for {audit.profile}: {said or 'nothing'}")


def _folded(results: Iterable[AuditResult], status: Status) -> list[list[AuditResult]]:
    """Results of one setting, value and sentence together."""
    groups: dict[tuple[str, str, str, str], list[AuditResult]] = defaultdict(list)
    for one in results:
        if one.status == status:
            groups[(one.id, one.seen, one.wanted, one.message)].append(one)
    return list(groups.values())


def folded_fails(results: Iterable[AuditResult]) -> list[list[AuditResult]]:
    """What fails alike on several hosts together, the worst expected effect first."""
    return sorted(_folded(results, "fail"), key=_weight, reverse=True)


def _weight(group: Sequence[AuditResult]) -> float:
    """How much is expected of mending it: effect times how sure it is."""
    effect = group[0].expected_effect
    if effect is None:
        return 0.0
    return _WEIGHTS.get(effect.on, effect.high) * _SURE[effect.sure]


def who(group: Sequence[AuditResult]) -> str:
    """Hosts and interfaces, folded."""
    hosts = fold(dict.fromkeys(one.host for one in group))
    labels = list(dict.fromkeys(one.instance for one in group if one.instance))
    if not labels:
        return hosts
    more = f" and {len(labels) - 6} more" if len(labels) > 6 else ""
    return f"{hosts} {', '.join(labels[:6])}{more}"


def _failed(group: Sequence[AuditResult], look: Look) -> list[str]:
    one = group[0]
    what = f"FAIL {one.id} on {who(group)}: {one.seen or 'not set'}, should be {one.wanted}"
    lines = _wrapped(what, look, "  ", "    ")
    lines += _wrapped(one.message, look, "    ", "    ")
    if one.expected_effect is not None and (said := effect_text(one.expected_effect)):
        lines += _wrapped(f"expected effect: {said}", look, "    ", "    ")
    if one.fix:
        lines += _wrapped(f"→ {one.fix}; undo: {one.undo}", look, "    ", "      ")
    return lines


def effect_text(effect: Effect) -> str:
    """``10 % to 100 % of latency (literature)``."""
    if effect.on == "none":
        return ""
    if not effect.high:
        return f"{effect.on} ({effect.sure})"
    return f"{100 * effect.low:g} % to {100 * effect.high:g} % of {effect.on} ({effect.sure})"


def _brief(group: Sequence[AuditResult], look: Look) -> str:
    one = group[0]
    seen = f": {one.seen}" if one.seen and one.status == "pass" else f": {one.message}"
    text = f"  {_WORDS[one.status]} {one.id} on {who(group)}{seen}"
    return look.say(
        textwrap.shorten(text.strip(), 3 * look.width, placeholder=" ..."), 3 * look.width
    )


def _wrapped(text: str, look: Look, first: str, rest: str) -> list[str]:
    return textwrap.wrap(
        look.say(text, 1200), look.width, initial_indent=first, subsequent_indent=rest
    )


def _place(read: Read) -> str:
    if read.file == "bios":
        return "BIOS"
    if read.file.startswith("pci/"):
        return f"PCI configuration space, {read.file.rpartition('/')[2]}"
    return read.file or " ".join(read.command)


def _called(one: Setting) -> list[str]:
    """Names of the firmware's attribute, by maker."""
    return [
        f"{', '.join(names)} ({maker})" if maker != "any" else ", ".join(names)
        for maker, names in one.names.items()
    ]


def explained(one: Setting) -> list[str]:
    """All that the catalogue knows of a setting, as lines."""
    lines = (f"  {name}{': ' if name else ''}{text}" for name, text in setting_rows(one))
    return [f"{one.id}: {one.title}", *lines]


def setting_rows(one: Setting) -> list[tuple[str, str]]:
    """What the catalogue knows of a setting, as (heading, text); the first has no heading."""
    places = [_place(read) for read in one.reads]
    named = one.wanted or one.good
    wanted = [text if profile == "any" else f"{profile}: {text}" for profile, text in named.items()]
    said = {
        "": one.meaning,
        "read from": ", ".join(places),
        "called": "; ".join(_called(one)),
        "else told by": ", ".join(each.sign for each in one.inferred),
        "unit": one.unit,
        "default": one.default,
        "range": one.range,
        "counts where": "" if one.applies == "true" else one.applies,
        "should be": "; ".join(wanted),
        "why": one.why,
        "expected effect": effect_text(one.effect),
        "changed by": _changed_by(one),
        "since": one.since,
        "until": one.until,
        "source": one.source,
    }
    return [(name, text) for name, text in said.items() if text]


def _changed_by(one: Setting) -> str:
    """Our own command where there is one, else what a person does."""
    fix = one.fix
    if fix is None:
        return ""
    if fix.value or fix.line:
        return f"wireproof tune apply {one.id}"
    kernel = f"kernel argument {fix.kernel}" if fix.kernel else ""
    return "; ".join(step for step in (kernel, fix.by_hand) if step)
