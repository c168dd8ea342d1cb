"""What an audit found, for people: fails first, the worst expected effect first, hosts folded."""

from __future__ import annotations

import textwrap
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence

from wireproof.model.quantity import counted
from wireproof.model.setting import Audit, AuditResult, Read, Setting, Status
from wireproof.report.failing import Failing, Unread, carrier_of, effect_text, failing, unread, who
from wireproof.report.names import clean, fold
from wireproof.report.text.look import Look

__all__ = ["audit_lines", "entry_rows", "explained", "worst_lines"]

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
_LONGEST_REASON = 240
_MOST_REASONS, _MOST_NAMES = 9, 4
"""Reasons and settings that a report names."""


def audit_lines(audit: Audit, look: Look, *, everything: bool = False) -> list[str]:
    """Fails in full; the rest as counts, or each in one line with ``everything``."""
    found = failing(audit.results)
    lines = [_head(audit, len(found), look)]
    for one in found:
        lines += _failed(one, look)
    lines += _unread(unread(audit.results), look, everything=everything)
    for status in ("waived", "pass", "not-applicable") if everything else ():
        lines += [_brief(group, look) for group in _folded(audit.results, status)]
    lines += [look.say(f"left out of the catalogue: {why}") for why in audit.skipped]
    return lines


def _unread(found: Sequence[Unread], look: Look, *, everything: bool) -> list[str]:
    """A line for each reason, that of most settings first; with ``everything`` all names."""
    lines: list[str] = []
    shown = found if everything else found[:_MOST_REASONS]
    for one in shown:
        names = one.ids if everything else one.ids[:_MOST_NAMES]
        rest = len(one.ids) - len(names)
        more = f" and {rest} more" if rest else ""
        what = f"UNKNOWN on {one.who}: {', '.join(names)}{more}: {one.reason[:_LONGEST_REASON]}"
        lines += _wrapped(what, look, "  ", "    ")
    if rest_of := found[len(shown) :]:
        settings = counted(sum(len(one.ids) for one in rest_of), "setting")
        lines.append(f"  UNKNOWN: {settings} for other reasons; --all names them")
    return lines


def worst_lines(
    audit: Audit, look: Look, protocol: str = "", causes: Collection[str] = ()
) -> list[str]:
    """The fails with the largest effects on what carries the messages, a line or two each; how many
    more there are. ``causes``: those that may be the cause of what is slow come first.
    """
    found = failing(audit.results, carrier_of(audit.results, protocol), causes)
    lines = [_head(audit, len(found), look)]
    for one in found[:_MOST]:
        what = f"{one.id} on {one.who}: {one.values}, should be {one.wanted}"
        text = f"{what} ({one.expected})" if one.expected else what
        lines += _wrapped(f"{text}: may be the cause" if one.cause else text, look, "  ", "    ")
    more = f"{len(found) - _MOST} more fail; " if len(found) > _MOST else ""
    return (
        [*lines, f"  {more}`wireproof audit` says why, `wireproof tune plan` what would be changed"]
        if found
        else lines
    )


def _head(audit: Audit, fails: int, look: Look) -> str:
    """``fails``: entries; beside them how many results there are of each status."""
    counts = Counter(result.status for result in audit.results)
    said = ", ".join(f"{counts[status]} {_WORDS[status]}" for status in _ORDER if counts[status])
    done = "differ" + "s" * (fails == 1) if audit.against else "to mend"
    entries = f"{counted(fails, 'setting')} {done}; " if fails else ""
    beside = f"against {clean(audit.against)}" if audit.against else f"for {audit.profile}"
    where = f"settings of {fold(audit.hosts)} {beside}"
    return look.say(f"{where}: {entries}{said or 'nothing'}")


def _folded(results: Iterable[AuditResult], status: Status) -> list[list[AuditResult]]:
    """Results of one setting, value and sentence together."""
    groups: dict[tuple[str, str, str, str], list[AuditResult]] = defaultdict(list)
    for one in results:
        if one.status == status:
            groups[(one.id, one.seen, one.wanted, one.message)].append(one)
    return list(groups.values())


def _failed(one: Failing, look: Look) -> list[str]:
    what = f"FAIL {one.id} on {one.who}: {one.values}, should be {one.wanted}"
    lines = _wrapped(what, look, "  ", "    ")
    lines += _wrapped(one.why, look, "    ", "    ")
    if one.others:
        lines += _wrapped(one.others, look, "    ", "    ")
    if one.expected:
        lines += _wrapped(f"expected effect: {one.expected}", look, "    ", "    ")
    if one.mend:
        lines += _wrapped(f"→ {one.mend}", look, "    ", "      ")
    return lines


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
    if read.file.startswith(("pci/", "pci-host/")):
        return f"PCI configuration space, {read.file.rpartition('/')[2]}"
    if read.file.startswith("mlxconfig/"):
        return f"mlxconfig -e q of an archive, {read.file.rpartition('/')[2]}"
    return read.file or " ".join(read.command)


def _called(one: Setting) -> list[str]:
    """Names of the firmware's attribute, by maker."""
    return [
        f"{', '.join(names)} ({maker})" if maker != "any" else ", ".join(names)
        for maker, names in one.names.items()
    ]


def explained(
    one: Setting, results: Sequence[AuditResult] = (), look: Look | None = None
) -> list[str]:
    """All that the catalogue knows of a setting, as lines, with its values on the hosts of
    ``results``.
    """
    lines = [f"  {name}{': ' if name else ''}{text}" for name, text in entry_rows(one)]
    for group in _folded_by_value(each for each in results if each.id == one.id):
        each = group[0]
        read = each.status in ("pass", "fail", "waived")
        why = each.message.removeprefix(f"{one.title}: ")
        said = _WORDS[each.status]
        value = f"{each.seen or 'empty'} ({said})" if read else f"{said}, {why}"
        line = f"now on {who(group)}: {value}"
        lines.append(f"  {look.say(line) if look else clean(line)}")
    return [f"{one.id}: {one.title}", *lines]


def _folded_by_value(results: Iterable[AuditResult]) -> list[list[AuditResult]]:
    """Hosts and interfaces with one value together."""
    groups: dict[tuple[str, str, str], list[AuditResult]] = defaultdict(list)
    for one in results:
        groups[(one.seen, one.status, "" if one.seen else one.message)].append(one)
    return list(groups.values())


def entry_rows(one: Setting) -> list[tuple[str, str]]:
    """What the catalogue knows of a setting, as (heading, text); the first has no heading."""
    places = [_place(read) for read in one.reads]
    named = one.wanted or one.good
    wanted = [text if profile == "any" else f"{profile}: {text}" for profile, text in named.items()]
    said = {
        "": one.meaning,
        "read from": ", ".join(places),
        "called": "; ".join(_called(one)),
        "otherwise shown by": ", ".join(each.sign for each in one.inferred),
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
