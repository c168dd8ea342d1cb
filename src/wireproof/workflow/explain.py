"""What a code means, of a verdict, of a cause, of lint or of a setting, and what to do next: one
place that knows them all, and which of them speak of the same setting.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from wireproof.audit.machine import Instance
from wireproof.audit.remedy import fix_text, remedy_with
from wireproof.lint.rule import Rule
from wireproof.lint.rules import RULES
from wireproof.locate.causes.rules import RULES as CAUSES
from wireproof.model.errors import BadInput
from wireproof.model.setting import Setting
from wireproof.report.text.audit import entry_rows
from wireproof.verdict import catalogue as verdict
from wireproof.verdict.catalogue import Entry
from wireproof.workflow.audit import settings_by_id
from wireproof.workflow.documents.lists import Explanations

__all__ = ["Explanation", "explain", "explanations", "names"]

_NEAR = 3


@dataclasses.dataclass(frozen=True, kw_only=True)
class Explanation:
    """``entry``: as its catalogue has it; ``paragraphs``: (heading, text) of it, in order."""

    entry: Entry | Rule | Setting
    title: str
    paragraphs: tuple[tuple[str, str], ...]


def explain(code: str) -> list[Explanation]:
    """All that is called ``code``: a finding or a cause, a rule of lint, a setting (of which a rule
    may have the name). Raises ``BadInput`` that suggests near names of all of them.
    """
    key = code.strip().lower().replace("_", "-")
    settings = settings_by_id()
    findings = {**verdict.CATALOGUE, **verdict.causes()}
    found: list[Explanation] = []
    if key in findings:
        found.append(_of_finding(findings[key], settings.get(_setting_of(key))))
    if key in RULES:
        found.append(_of_rule(RULES[key], settings.get(RULES[key].setting)))
    if key in settings:
        found.append(_of_setting(settings[key]))
    if not found:
        raise BadInput(_unknown(code, key, names()))
    return found


def explanations(found: Sequence[Explanation]) -> Explanations:
    """As one document; of nothing: all findings."""
    entries = [one.entry for one in found] or list(verdict.CATALOGUE.values())
    return Explanations(
        findings=[one for one in entries if isinstance(one, Entry)],
        rules=[one for one in entries if isinstance(one, Rule)],
        settings=[one for one in entries if isinstance(one, Setting)],
    )


def names() -> list[str]:
    """All codes, rules and settings that ``explain`` knows."""
    return sorted({*verdict.CATALOGUE, *verdict.causes(), *RULES, *settings_by_id()})


def _unknown(code: str, key: str, names: Sequence[str]) -> str:
    near = get_close_matches(key, dict.fromkeys(names), n=_NEAR, cutoff=0.4)
    hint = (
        f"did you mean {', '.join(near)}?"
        if near
        else "'wireproof explain', 'wireproof lint --rules' and 'wireproof audit --list' list them."
    )
    return f"no finding, cause, rule of lint or setting has the code {code!r}; {hint}"


def _setting_of(cause: str) -> str:
    return next((rule.setting for rule in CAUSES if rule.code == cause), "")


def _of_finding(entry: Entry, setting: Setting | None) -> Explanation:
    texts = [
        ("Means", entry.meaning),
        ("Found by", entry.detection),
        ("Do next", entry.next_action),
        *_pointer(setting),
    ]
    return Explanation(entry=entry, title=f"{entry.code}: {entry.title}", paragraphs=tuple(texts))


def _of_rule(rule: Rule, setting: Setting | None) -> Explanation:
    texts = [
        ("Means", rule.why),
        ("Right", rule.right),
        *_pointer(setting),
        ("Source", rule.source),
    ]
    return Explanation(entry=rule, title=f"{rule.code}: {rule.sentence}", paragraphs=tuple(texts))


def _pointer(setting: Setting | None) -> list[tuple[str, str]]:
    """The setting that it is about, in a line."""
    if setting is None:
        return []
    return [("Setting", f"{setting.id}: {setting.title} (wireproof explain {setting.id})")]


def _of_setting(setting: Setting) -> Explanation:
    rules = [rule.code for rule in RULES.values() if rule.setting == setting.id]
    causes = [rule.code for rule in CAUSES if rule.setting == setting.id]
    rows = [(name.capitalize() or "Means", text) for name, text in entry_rows(setting)]
    rows += _mended(setting)
    rows += _listed("Rules of lint", rules) + _listed("Causes", causes)
    title = f"{setting.id}: {setting.title} (setting, group {setting.group})"
    return Explanation(entry=setting, title=title, paragraphs=tuple(rows))


def _mended(setting: Setting) -> list[tuple[str, str]]:
    """The fix, with the names of interfaces left open, and the undo."""
    fix = setting.fix
    if fix is None:
        return []
    place = next((read.file for read in setting.reads if read.file.startswith("/")), "")
    text = fix_text(remedy_with(fix, Instance("", {}, {}), place, fix.value.get("any", "")))
    return [("Fix", text), ("Undo", fix.undo)] if text else []


def _listed(heading: str, codes: Iterable[str]) -> list[tuple[str, str]]:
    said = ", ".join(codes)
    return [(heading, said)] if said else []
