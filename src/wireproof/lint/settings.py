"""Find the entry of the catalogue of settings that a finding is about: that of its rule, else the
setting that the line names. Pure.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from wireproof.lint.rules import rules
from wireproof.model.finding import LintFinding
from wireproof.model.setting import Setting

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
    lines = text.split("\n")
    return [_with_setting(one, lines, names, settings) for one in findings]


def _with_setting(
    finding: LintFinding,
    lines: Sequence[str],
    names: Mapping[str, str],
    settings: Mapping[str, Setting],
) -> LintFinding:
    line = lines[finding.line - 1][:_LONGEST] if 0 < finding.line <= len(lines) else ""
    found = rules()[finding.code].setting or _named(finding, line, names)
    entry = settings.get(found)
    if entry is None:
        return finding
    wanted = "; ".join(_wishes(entry)) if entry.effect.on != "none" else ""
    return msgspec.structs.replace(
        finding, setting=entry.id, wanted=wanted, setting_until=entry.until
    )


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


def _wishes(entry: Setting) -> list[str]:
    wanted = entry.wanted or entry.good
    return [text if name == "any" else f"{name}: {text}" for name, text in wanted.items()]
