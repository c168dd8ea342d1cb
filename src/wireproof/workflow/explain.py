"""What a code means, of a verdict, of a cause, of lint or of a setting, and what to do next: one
place that knows them all, and which of them speak of the same setting.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING

from wireproof.model.errors import BadInput
from wireproof.verdict.catalogue import CatalogueEntry, causes, findings

if TYPE_CHECKING:
    from wireproof.lint.rule import Rule
    from wireproof.model.lint import LintFinding
    from wireproof.model.setting import Setting
    from wireproof.workflow.documents.lists import Explanations


_NEAR = 3
_MOST_ALIKE = 5
_SYSCTLS = "/proc/sys/"
_VARIABLE = re.compile(r"[A-Z][A-Z0-9]*_[A-Za-z0-9_]{2,80}")
_OF_NAMES = (
    "component-removed",
    "variable-misspelt",
    "variable-removed",
    "variable-without-effect",
)
"""Rules about a variable's name, whatever its value."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Explanation:
    """``entry``: as its catalogue has it; ``paragraphs``: (heading, text) of it, in order."""

    entry: CatalogueEntry | Rule | Setting
    title: str
    paragraphs: tuple[tuple[str, str], ...]


def explain(code: str) -> list[Explanation]:
    """All that is called ``code``: a finding or a cause, a rule of lint, a setting (of which a rule
    may have the name); else the settings that the system, a maker's menu or a document calls so
    (``krcvqs``, ``PSM3_RDMA``, ``vm.swappiness``, ``C1E Autopromote``). Raises ``BadInput`` that
    suggests near names of all of them.
    """
    key = code.strip().lower().replace("_", "-")
    if entry := findings().get(key):  # no cause, rule or setting has the code of a finding
        return [_of_finding(entry, None)]
    from wireproof.lint.rules import rules as lint_rules
    from wireproof.workflow.audit import settings_by_id

    settings, others = settings_by_id(), causes()
    found: list[Explanation] = []
    if key in others:
        found.append(_of_finding(others[key], settings.get(_setting_of(key))))
    if rule := lint_rules().get(key):
        found.append(_of_rule(rule, settings.get(rule.setting)))
    if key in settings:
        found.append(_of_setting(settings[key]))
    if not found:
        found = [_of_setting(one) for one in _known_as(code.strip(), settings.values())]
    if not found:
        found = _as_variable(code.strip())
    if not found:
        raise BadInput(_knob(code.strip()) or _unknown(code, key, names()))
    return found


def _as_variable(name: str) -> list[Explanation]:
    """The rules that a script which sets the variable ``name`` breaks: it is gone, or misspelt."""
    if _VARIABLE.fullmatch(name) is None:
        return []
    from wireproof.lint.check import lint_text
    from wireproof.lint.rules import rules as lint_rules

    said = lint_text(f"#!/bin/bash\nexport {name}=1\n", "x.sh")
    of_name = [one for one in said if one.code in _OF_NAMES]
    return [_of_rule(lint_rules()[one.code], None, (_seen(one), one.right)) for one in of_name]


def _seen(finding: LintFinding) -> str:
    """What the finding adds to its rule's sentence."""
    from wireproof.lint.rules import rules as lint_rules

    return finding.message.removeprefix(
        lint_rules()[finding.code].sentence.removesuffix(".") + ": "
    )


def _tried(setting: Setting) -> list[tuple[str, str]]:
    """Of a variable that `study` varies: how to try its values here."""
    names = [read.key for read in setting.reads if _VARIABLE.fullmatch(read.key)]
    return _listed("Tried by", [command for name in names for command, _ in _studies(name)])


def _knob(name: str) -> str:
    """Of a variable that `study` knows: what it is; else ""."""
    for command, what in _studies(name):
        return f"{name} is no setting of a host but a knob: {what}. '{command}' tries its values."
    return ""


def _studies(name: str) -> Iterator[tuple[str, str]]:
    """The command that tries a variable, and what the variable is."""
    from wireproof.workflow.study.libraries import libraries, library_called

    for library in libraries() if _VARIABLE.fullmatch(name) else ():
        for knob in library_called(library).knob:
            if knob.name == name:
                yield f"wireproof study {library} --knobs {name}", knob.what


def _known_as(name: str, settings: Iterable[Setting]) -> list[Setting]:
    """Settings by the names of what they are read from or set by; by a word of it if none is called
    that.
    """
    key, known = name.casefold(), list(settings)
    for names_of in (_names_of, _words_of):
        found = [one for one in known if key in (each.casefold() for each in names_of(one))]
        if found and (names_of is _names_of or len(found) <= _MOST_ALIKE):
            return found[:_MOST_ALIKE]
    return []


def _names_of(setting: Setting) -> Iterator[str]:
    """Variables, attributes of menus, files with their last part, sysctls with dots, arguments of
    the kernel.
    """
    for names in setting.names.values():
        yield from names
    for read in setting.reads:
        yield from filter(None, (*read.key.split("|"), read.file, read.file.rpartition("/")[2]))
        if read.file.startswith(_SYSCTLS):
            yield read.file.removeprefix(_SYSCTLS).replace("/", ".")
    if setting.fix is not None and setting.fix.kernel:
        yield setting.fix.kernel


def _words_of(setting: Setting) -> Iterator[str]:
    """Folders on the way to what is read, words of commands and services, the name of the kernel's
    argument, words of the line in a drop-in.
    """
    for read in setting.reads:
        yield from filter(None, read.file.split("/")[:-1])
        for word in read.command:
            yield from (word, word.removesuffix(".service"))
    if setting.fix is not None:
        yield setting.fix.kernel.partition("=")[0]
        yield from setting.fix.line.split()


def explanations(found: Sequence[Explanation]) -> Explanations:
    """As one document; of nothing: all findings."""
    from wireproof.lint.rule import Rule
    from wireproof.model.setting import Setting
    from wireproof.workflow.documents.lists import Explanations

    entries = [one.entry for one in found] or list(findings().values())
    return Explanations(
        findings=[one for one in entries if isinstance(one, CatalogueEntry)],
        rules=[one for one in entries if isinstance(one, Rule)],
        settings=[one for one in entries if isinstance(one, Setting)],
    )


def names() -> list[str]:
    """All codes, rules and settings that ``explain`` knows."""
    from wireproof.lint.rules import rules as lint_rules
    from wireproof.workflow.audit import settings_by_id

    return sorted({*findings(), *causes(), *lint_rules(), *settings_by_id()})


def _unknown(code: str, key: str, names: Sequence[str]) -> str:
    near = get_close_matches(key, dict.fromkeys(names), n=_NEAR, cutoff=0.4)
    hint = (
        f"did you mean {', '.join(near)}?"
        if near
        else "'wireproof explain', 'wireproof lint --rules' and 'wireproof audit --list' list them."
    )
    return f"no finding, cause, rule of lint or setting has the code {code!r}; {hint}"


def _setting_of(cause: str) -> str:
    from wireproof.locate.causes.rules import rules as cause_rules

    return next((rule.setting for rule in cause_rules() if rule.code == cause), "")


def _of_finding(entry: CatalogueEntry, setting: Setting | None) -> Explanation:
    texts = [
        ("Means", entry.meaning),
        ("Found by", entry.detection),
        ("Do next", entry.next_action),
        *_pointer(setting),
    ]
    return Explanation(entry=entry, title=f"{entry.code}: {entry.title}", paragraphs=tuple(texts))


def _of_rule(rule: Rule, setting: Setting | None, here: tuple[str, str] = ("", "")) -> Explanation:
    """``here``: what the rule says of one name, and its right form."""
    texts = [
        *([("Here", here[0])] if here[0] else []),
        ("Means", rule.why),
        ("Right", here[1] or rule.right),
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
    from wireproof.lint.rules import rules as lint_rules
    from wireproof.locate.causes.rules import rules as cause_rules
    from wireproof.report.documents.audit import entry_rows

    rules = [rule.code for rule in lint_rules().values() if rule.setting == setting.id]
    causes = [rule.code for rule in cause_rules() if rule.setting == setting.id]
    rows = [(name.capitalize() or "Means", text) for name, text in entry_rows(setting)]
    rows += _mended(setting) + _tried(setting)
    rows += _listed("Rules of lint", rules) + _listed("Causes", causes)
    title = f"{setting.id}: {setting.title} (setting, group {setting.group})"
    return Explanation(entry=setting, title=title, paragraphs=tuple(rows))


def _mended(setting: Setting) -> list[tuple[str, str]]:
    """The fix, with the names of interfaces left open, and the undo."""
    from wireproof.audit.machine import Instance
    from wireproof.audit.remedy import fix_text, remedy_with

    fix = setting.fix
    if fix is None:
        return []
    place = next((read.file for read in setting.reads if read.file.startswith("/")), "")
    value = fix.value.get("any", "")
    value = "VALUE" if value.startswith("=") else value  # calculated on the host
    text = fix_text(remedy_with(fix, Instance("", {}, {}), place, value))
    return [("Fix", text), ("Undo", fix.undo)] if text else []


def _listed(heading: str, codes: Iterable[str]) -> list[tuple[str, str]]:
    said = ", ".join(codes)
    return [(heading, said)] if said else []
