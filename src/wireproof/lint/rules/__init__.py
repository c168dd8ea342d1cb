# pure
"""The catalogue of rules and of their rows: the files of this folder, and those of a site. The
checks find where a rule is broken. ``with_settings`` finds the setting that a finding is about.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from wireproof.lint.rule import CommandRow, LineRow, Rule, VariableRow
from wireproof.model.finding import LintFinding
from wireproof.model.setting import Setting
from wireproof.model.site import HEADS, CatalogueFile, of_site, packaged, site_texts
from wireproof.model.toml import Row, once, read_rows

SCRIPT = ("job-script.toml", "mpi.toml", "benchmarks.toml")
ADMIN = ("admin.toml",)
FILES = ("kernel.toml", "interfaces.toml", "system.toml")


class Book(NamedTuple):
    """Rules by their codes, and the rows that find broken rules."""

    rules: dict[str, Rule]
    line: list[LineRow]
    variable: list[VariableRow]
    command: list[CommandRow]


@of_site
def book(names: tuple[str, ...] = (*SCRIPT, *ADMIN, *FILES)) -> Book:
    """Return the content of the built-in files ``names`` and the rows of the site. Raise BadInput
    for a code with two rules, and for a row of an unknown rule.
    """
    texts = (*(CatalogueFile(packaged(__package__, name), name) for name in names), *site_texts())
    made = Book({}, [], [], [])
    codes: set[str] = set()
    for text in texts:
        for rule in _rows(text, "rule", Rule, lambda rule: once(codes, rule.code, "rule")):
            made.rules[rule.code] = replace(rule, source=text.source(rule.source))

    def known(row: LineRow | VariableRow | CommandRow) -> None:
        if row.code not in made.rules:
            raise ValueError(f"'code' is {row.code!r}, which is not a rule of lint")

    for text in texts:
        made.line.extend(_rows(text, "line", LineRow, known))
        made.variable.extend(_rows(text, "variable", VariableRow, known))
        made.command.extend(_rows(text, "command", CommandRow, known))
    return made


def rules() -> dict[str, Rule]:
    """Return all rules by their codes."""
    return book().rules


def _rows(
    text: CatalogueFile, head: str, kind: type[Row], check: Callable[[Row], object]
) -> list[Row]:
    return read_rows(text.text, text.name, head, kind, HEADS, check)


# --- Find the entry of the catalogue of settings that a finding refers to: the entry of its rule,
# else the setting that the line names.

_SYSCTL = "/proc/sys/"
_PARAMETER = re.compile(r"/sys/module/(\w+)/parameters/(\w+)")
_WORD = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./-]*")
_LONGEST = 8192


def names_in_recipes(settings: Iterable[Setting]) -> dict[str, str]:
    """Return the identifier of each setting by its names in recipes: ``net.core.rmem_max``, ``hfi1
    krcvqs``, ``PSM3_RDMA``.
    """
    found: dict[str, str] = {}
    for setting in settings:
        for read in setting.reads:
            if parameter := _PARAMETER.fullmatch(read.file):
                found.setdefault(f"{parameter[1]} {parameter[2]}", setting.id)
            elif read.file.startswith(_SYSCTL) and "*" not in read.file:
                found.setdefault(read.file.removeprefix(_SYSCTL).replace("/", "."), setting.id)
            elif read.file == "environment" and read.key:
                found.setdefault(read.key, setting.id)
    return found


def with_settings(
    findings: Sequence[LintFinding], text: str, settings: Mapping[str, Setting]
) -> list[LintFinding]:
    """Return ``findings`` in ``text``, each with the entry that it is about, if any."""
    names = names_in_recipes(settings.values())
    lines = dict(enumerate(text.split("\n"), start=1))
    found = []
    for one in findings:
        line = lines.get(one.line, "")[:_LONGEST]
        entry = settings.get(rules()[one.code].setting or _named(one, line, names))
        found.append(one if entry is None else _with_setting(one, entry))
    return found


def _with_setting(finding: LintFinding, entry: Setting) -> LintFinding:
    wishes = (entry.wanted or entry.good) if entry.effect.on != "none" else {}
    wanted = (text if name == "any" else f"{name}: {text}" for name, text in wishes.items())
    return replace(finding, setting=entry.id, wanted="; ".join(wanted), setting_until=entry.until)


def _named(finding: LintFinding, line: str, names: Mapping[str, str]) -> str:
    """Return the first setting that the message names, or the sysctl of the line; a parameter
    counts only if its module is named, or in a listing of modinfo.
    """
    words = _WORD.findall(finding.message)
    around = _WORD.findall(line)
    if finding.code.startswith("sysctl-"):
        words += around
    known = {name.partition(" ")[0] for name in names if " " in name}
    modules = known & {*words, *around} or (known if "parm" in around else set())
    for word in words:
        spelled = word.replace("/", ".").removeprefix(".proc.sys.")
        for name in (spelled, *(f"{module} {word}" for module in sorted(modules))):
            if name in names:
                return names[name]
    return ""
