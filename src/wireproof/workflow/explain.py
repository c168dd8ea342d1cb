"""Explain the code of a finding, a cause, a lint rule or a setting, the next step, and the other
codes that refer to the same setting.
"""

from __future__ import annotations

import dataclasses
import functools
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from itertools import islice
from typing import TYPE_CHECKING

from wireproof.model.errors import BadInput
from wireproof.verdict.catalogue import CatalogueEntry, as_key, findings, known_names

if TYPE_CHECKING:
    from wireproof.lint.rule import Rule
    from wireproof.locate.causes.rules import CauseRule
    from wireproof.model.finding import LintFinding
    from wireproof.model.setting import Setting
    from wireproof.verdict.catalogue import KnownName


_NEAR = 3
_MOST_ALIKE = 5
_SHORTEST = 7
"""Minimum length of a word that matches a whole menu entry, if the entry is less than twice as
long.
"""
_OF_PATHS = ("devices", "system", "link", "cpu")
"""Words that occur in too many codes."""
_SYSCTLS = "/proc/sys/"
_MOST_WORDS = 8
_VARIABLE = re.compile(r"[A-Z][A-Z0-9]*_[A-Za-z0-9_]{2,80}")
_ASSIGNED = re.compile(r"([^=:]{1,80}?) ?(?:=|: ) ?(.{1,200}?)(?: \(.*\))?")
_WORD = re.compile(r"(?!-)(?=.*[A-Za-z]{2})")
_RELEASE = re.compile(r"[-_]v?\d+(?:[.-]\d+)+$")
_OF_NAMES = (
    "component-removed",
    "variable-misspelt",
    "variable-removed",
    "variable-without-effect",
)
"""Rules about a variable's name, independent of its value."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Explanation:
    """``entry``: the entry of its catalogue; ``paragraphs``: (heading, text) in order."""

    entry: CatalogueEntry | Rule | Setting
    title: str
    paragraphs: tuple[tuple[str, str], ...]


def explain(code: str) -> list[Explanation]:
    """Return every entry with the name ``code``: a finding or a cause, a lint rule, a setting (a
    rule may have the same name). If there is none, return the settings that the system, a vendor's
    menu or a document calls by that name (``krcvqs``, ``PSM3_RDMA``, ``vm.swappiness``, ``C1E
    Autopromote``), also with a value (``krcvqs=4``) or among other words (``blacklist acpi_pad``).
    Raises ``BadInput`` with similar names if there is no such name.
    """
    key = as_key(code)
    if entry := findings().get(key):  # no cause, rule or setting has the code of a finding
        return [_of_finding(entry, None)]
    found = _named(code.strip()) or _with_value(code) or _with_word(key) or _in_words(code)
    if not found:
        raise BadInput(_unknown(code, key, names()))
    return found


def _named(name: str) -> list[Explanation]:
    """Return everything with exactly this name, except findings."""
    from wireproof.audit.job import settings_by_id
    from wireproof.lint.rules import rules as lint_rules

    key, settings, others = as_key(name), settings_by_id(), causes()
    found: list[Explanation] = []
    if key in others:
        from wireproof.locate.causes.rules import rules as cause_rules

        setting = next((rule.setting for rule in cause_rules() if rule.code == key), "")
        found.append(_of_finding(others[key], settings.get(setting)))
    if rule := lint_rules().get(key):
        found.append(_of_rule(rule, settings.get(rule.setting)))
    if key in settings:
        found.append(_of_setting(settings[key]))
    known = known_names().get(key)
    if not found:
        listed = _known_as(name, settings.values(), menus=known is None)
        found = [_of_setting(setting) for setting in listed]
    if not found:
        found = _as_variable(name) or _knob(name)
    if known:
        found.insert(0, _of_name(known, found))
    return found


def _with_value(text: str) -> list[Explanation]:
    """Return the entries for NAME in ``NAME=VALUE`` or ``NAME: VALUE``, and the rules that a script
    with this value of a variable breaks.
    """
    match = _ASSIGNED.fullmatch(" ".join(text.split()))
    if match is None:
        return []
    name, value = match[1], match[2]
    entries = _named(name) or _in_words(name)
    titles = {entry.title for entry in entries}
    return entries + [
        entry for entry in _as_variable(name, value) if entries and entry.title not in titles
    ]


def _in_words(text: str) -> list[Explanation]:
    """Return the names among the words of a line or of a menu entry: the longest name, or several
    of equal length; options only if no other word is a name. The device in ``nictypes.ib0`` and the
    release behind a name do not count.
    """
    words = text.split()
    if len(words) == 1:
        return _named(_RELEASE.sub("", text).partition(".")[0])
    for length in range(min(len(words), _MOST_WORDS + 1) - 1, 0, -1):
        parts = [" ".join(words[at : at + length]) for at in range(len(words) - length + 1)]
        for tried in (filter(_WORD.match, parts), parts):
            found = {one.title: one for part in islice(tried, _MOST_WORDS) for one in _named(part)}
            if found:
                return list(found.values())[:_MOST_ALIKE]
    return []


def _with_word(word: str) -> list[Explanation]:
    """Return all entries whose code contains the word, such as ``hfi1``; if there are many, only
    their titles."""
    if word in _OF_PATHS:
        return []
    found = [one for code in _codes_with(word) for one in explain(code)]
    if len(found) <= _MOST_ALIKE:
        return found
    return [dataclasses.replace(one, paragraphs=()) for one in found]


def _codes_with(word: str) -> list[str]:
    return [code for code in names() if f"-{word}-" in f"-{code}-"]


def _of_name(name: KnownName, others: Sequence[Explanation]) -> Explanation:
    """Return the explanation of a name; if no entry has that name, list the codes that contain
    it.
    """
    explained = _of_finding(name, None)
    codes = () if others else _codes_with(as_key(name.code))
    more = [*_listed("See also", codes), ("Source", name.source)]
    return dataclasses.replace(explained, paragraphs=(*explained.paragraphs, *more))


def _as_variable(name: str, value: str = "") -> list[Explanation]:
    """Return the rules that a script breaks by setting the variable ``name``, which was removed or
    is misspelt; if ``value`` is given, also the rules about that value.
    """
    if _VARIABLE.fullmatch(name) is None:
        return []
    from wireproof.lint.check import lint_text
    from wireproof.lint.job import in_time
    from wireproof.lint.rules import rules as lint_rules

    text = f"#!/bin/bash\nexport {name}={shlex.quote(value or '1')}\n"
    return [
        _of_rule(lint_rules()[finding.code], None, (_seen(finding), finding.right))
        for finding in in_time(functools.partial(lint_text, text, "x.sh"), name)
        if value or finding.code in _OF_NAMES
    ]


def _seen(finding: LintFinding) -> str:
    """Return the details that the finding adds to the sentence of its rule."""
    from wireproof.lint.rules import rules as lint_rules

    return finding.message.removeprefix(
        lint_rules()[finding.code].sentence.removesuffix(".") + ": "
    )


def _tried(setting: Setting) -> list[tuple[str, str]]:
    """Return the commands with which `study` tries values of the setting's variables."""
    keys = (read.key for read in setting.reads)
    return _listed("Tried by", (command for key in keys for command, *_ in _studies(key)))


def _knob(name: str) -> list[Explanation]:
    """Return an entry for a variable that `study` knows."""
    for command, what, library in _studies(name):
        entry = CatalogueEntry(
            code=name,
            title=f"knob in the study of {library}",
            meaning=f"{what}. It is a job's environment variable, not a setting of a host.",
            detection="`study` reads back the value that the library used.",
            next_action=f"`{command}` tries its values.",
        )
        return [_of_finding(entry, None)]
    return []


def _studies(name: str) -> Iterator[tuple[str, str, str]]:
    """Yield the command that tries a variable, the variable's description and its library."""
    from wireproof.experiment.study.library import libraries, library_called

    for library in libraries() if _VARIABLE.fullmatch(name) else ():
        described = library_called(library)
        for knob in described.knob:
            if knob.name == name:
                yield f"wireproof study {library} --knobs {name}", knob.what, described.title


def _known_as(name: str, settings: Iterable[Setting], *, menus: bool) -> list[Setting]:
    """Return the settings whose source or target has this name, or else contains it as a word, or
    else (with ``menus``) whose menu entry begins with it.
    """
    key, known = name.casefold(), list(settings)
    for names_of in (_names_of, _words_of):
        found = [setting for setting in known if any(_is(key, one) for one in names_of(setting))]
        if found and (names_of is _names_of or len(found) <= _MOST_ALIKE):
            return found[:_MOST_ALIKE]
    return [one for one in known if menus and _in_menu(_letters(key), one)][:_MOST_ALIKE]


def _letters(name: str) -> str:
    return re.sub(r"[^a-z0-9]|\(r\)|\bintel\b", "", name.casefold())


def _in_menu(letters: str, setting: Setting) -> bool:
    return len(letters) > _SHORTEST and any(
        entry.startswith(letters) and len(entry) <= 2 * len(letters)
        for names in setting.names.values()
        for entry in map(_letters, names)
    )


def _is(key: str, known: str) -> bool:
    """Return whether ``key`` is the name, or a path that contains a device in place of
    ``{nic}``."""
    if key == known.casefold() or "{" not in known or not key.startswith("/"):
        return key == known.casefold()
    parts = re.split(r"\{\w+\}", known.casefold())
    return re.fullmatch("[^/]+".join(map(re.escape, parts)), key) is not None


def _names_of(setting: Setting) -> Iterator[str]:
    """Yield variables, attributes of menus, files and the last parts of their paths, sysctls with
    dots, and kernel arguments.
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
    """Yield folders of the files that are read, words of commands and services, the name of the
    kernel argument, and words of the drop-in line.
    """
    for read in setting.reads:
        yield from filter(None, read.file.split("/")[:-1])
        for word in read.command:
            yield from (word, word.removesuffix(".service")) if word != "systemctl" else ()
    if setting.fix is not None:
        yield setting.fix.kernel.partition("=")[0]
        yield from setting.fix.line.split()


def explanations(explained: Sequence[Explanation]) -> object:
    """Return the explanations as one document; without any, all findings."""
    from wireproof.lint.rule import Rule
    from wireproof.model.setting import Setting
    from wireproof.workflow.documents import Explanations

    entries = [explanation.entry for explanation in explained] or list(findings().values())
    return Explanations(
        findings=[entry for entry in entries if isinstance(entry, CatalogueEntry)],
        rules=[entry for entry in entries if isinstance(entry, Rule)],
        settings=[entry for entry in entries if isinstance(entry, Setting)],
    )


def names() -> list[str]:
    """Return all codes, rules and settings that ``explain`` knows."""
    from wireproof.audit.job import settings_by_id
    from wireproof.lint.rules import rules as lint_rules

    return sorted({*findings(), *causes(), *lint_rules(), *settings_by_id()})


def _unknown(code: str, key: str, names: Sequence[str]) -> str:
    near = get_close_matches(key, dict.fromkeys((*names, *known_names())), n=_NEAR)
    hint = (
        f"did you mean {', '.join(near)}?"
        if near
        else "'wireproof explain', 'wireproof lint --rules' and 'wireproof audit --list' list them."
    )
    return f"no finding, cause, rule of lint or setting has the code {code!r}; {hint}"


def _of_finding(entry: CatalogueEntry, setting: Setting | None) -> Explanation:
    texts = (
        ("Means", entry.meaning),
        ("Found by", entry.detection),
        ("Do next", entry.next_action),
        *_pointer(setting),
    )
    return Explanation(entry=entry, title=f"{entry.code}: {entry.title}", paragraphs=texts)


def _of_rule(rule: Rule, setting: Setting | None, here: tuple[str, str] = ("", "")) -> Explanation:
    """Return the explanation of a rule; ``here``: the rule's statement about a particular name, and
    the correct form.
    """
    texts = [
        *([("Here", here[0])] if here[0] else []),
        ("Means", rule.why),
        ("Right", here[1] or rule.right),
        *_pointer(setting),
        ("Source", rule.source),
    ]
    return Explanation(entry=rule, title=f"{rule.code}: {rule.sentence}", paragraphs=tuple(texts))


def _pointer(setting: Setting | None) -> list[tuple[str, str]]:
    """Return a one-line summary of the related setting."""
    if setting is None:
        return []
    return [("Setting", f"{setting.id}: {setting.title} (wireproof explain {setting.id})")]


def _of_setting(setting: Setting) -> Explanation:
    from wireproof.audit.document import entry_rows
    from wireproof.lint.rules import rules as lint_rules
    from wireproof.locate.causes.rules import rules as cause_rules

    rows = [(name.capitalize() or "Means", text) for name, text in entry_rows(setting)]
    rows += _mended(setting) + _tried(setting)
    for heading, rules in (("Rules of lint", lint_rules().values()), ("Causes", cause_rules())):
        rows += _listed(heading, (rule.code for rule in rules if rule.setting == setting.id))
    title = f"{setting.id}: {setting.title} (setting, group {setting.group})"
    return Explanation(entry=setting, title=title, paragraphs=tuple(rows))


def _mended(setting: Setting) -> list[tuple[str, str]]:
    """Return the fix, with placeholders for the names of interfaces, and the undo."""
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
    return [(heading, joined)] if (joined := ", ".join(codes)) else []


def causes() -> dict[str, CatalogueEntry]:
    """Return the causes that can be assigned to a culprit, as catalogue entries.

    Causes are not findings and never appear alone.
    """
    from wireproof.locate.causes.rules import rules

    names = {"node": "NODE", "nic": "NIC"}
    return {
        rule.code: CatalogueEntry(
            code=rule.code,
            title=f"Cause: {rule.sentence.format(**names)}",
            meaning=_meaning_of(rule),
            detection=_detection_of(rule),
            next_action=rule.fix.format(**names) or _fix_of_setting(rule),
        )
        for rule in rules()
    }


def _fix_of_setting(rule: CauseRule) -> str:
    return (
        f"It is the setting `{rule.setting}`: `wireproof explain {rule.setting}` prints its good "
        "value, how to change it and how to undo that."
    )


def _meaning_of(rule: CauseRule) -> str:
    kinds = ", ".join(sorted(rule.kinds))
    best = f" (at best {rule.sure:g})" if rule.surer else ""
    return (
        f"wireproof names it as the cause of a slow {kinds}, with a confidence of "
        f"{rule.confidence:g}{best}."
    )


def _detection_of(rule: CauseRule) -> str:
    surer = "; ".join(sign.means() for sign in rule.surer)
    more = f". Surer when {surer}" if surer else ""
    return f"{'; '.join(sign.means() for sign in rule.when)}{more}."
