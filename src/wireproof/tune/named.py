"""What a person asks to change: ``SETTING``, ``SETTING/INSTANCE``, each with ``=VALUE``, a sysctl
by its name (``vm.dirty_bytes=0``), or a file below /proc/sys or /sys. Pure.
"""

import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from wireproof.audit.catalogue import Catalogue
from wireproof.audit.judge import instances_of
from wireproof.audit.machine import Machine
from wireproof.model.errors import BadInput
from wireproof.model.setting import Setting
from wireproof.tune.settings_files import sysctl_path

_SYSCTL = re.compile(r"[a-z0-9_]+(?:[./][A-Za-z0-9_@:-]+)+", re.ASCII)
_FILE = re.compile(r"/(?:proc/sys|sys)(?:/[A-Za-z0-9_.:@+-]+)+", re.ASCII)
_NUMBER = re.compile(r"[-+]?(?:[0-9]+|0[xX][0-9a-fA-F]+)", re.ASCII)
_LONGEST = 1000


@dataclass(frozen=True)
class Named:
    """``name``: of the catalogue, "" for a file alone. ``value``: "" for the catalogue's own."""

    name: str
    instance: str = ""
    value: str = ""
    path: str = ""

    @property
    def title(self) -> str:
        return self.path or (f"{self.name}/{self.instance}" if self.instance else self.name)

    def is_of(self, name: str, label: str) -> bool:
        """Whether it asks for the instance ``label`` of the setting ``name``."""
        return self.name == name and self.instance in ("", "/".join(label.split()))


def named_all(texts: Iterable[str], known: Catalogue) -> list[Named]:
    """Each of ``texts``. Raises ``BadInput`` for one that is none, or comes twice."""
    found = [named(text, known) for text in texts]
    titles = [one.title for one in found]
    twice = next((title for title in titles if titles.count(title) > 1), "")
    if twice:
        raise BadInput(f"{twice} is given twice: give one value for it.")
    return found


def named(text: str, known: Catalogue) -> Named:
    """``BadInput`` names the nearest setting where there is no such one."""
    name, given, value = text.partition("=")
    if given and not _is_value(value):
        raise BadInput(
            f"{name[:100]}= needs a value of up to {_LONGEST} printable characters behind it."
        )
    if name.startswith("/"):
        return _file(name, value, bool(given))
    setting, _, instance = name.partition("/")
    if setting in known.entries:
        _check_number(known.get(setting).setting, value)
        return Named(setting, instance, value)
    if _SYSCTL.fullmatch(name) and "." in name:
        return _file(sysctl_path(name), value, bool(given))
    return Named(known.get(setting[:100]).setting.id)


def _check_number(setting: Setting, value: str) -> None:
    """What a kernel reads as a number; firmware and limits have words for some, too."""
    at_once = setting.fix is not None and setting.fix.at_once
    if value and at_once and setting.form == "number" and not _NUMBER.fullmatch(value):
        raise BadInput(f"{setting.id} is a number, which {value[:100]!r} is not.")


def _is_value(value: str) -> bool:
    return 0 < len(value) <= _LONGEST and value.isascii() and value.isprintable()


def _file(path: str, value: str, given: bool) -> Named:
    if not _FILE.fullmatch(path) or "/.." in path or "/./" in path:
        raise BadInput(f"{path[:200]!r} is no file below /proc/sys or /sys.")
    if not given:
        raise BadInput(f"{path} is no setting of the catalogue: say which value, {path}=VALUE.")
    return Named("", value=value, path=path)


_SHOWN = 8


def nowhere(machines: Sequence[Machine], known: Catalogue, asked: Sequence[Named]) -> str:
    """A sentence for the first file or instance that every host is known not to have; "" when there
    is none. What some of the hosts have is no mistake.
    """
    for one in asked:
        if one.path and all(machine.facts.file(one.path).absent for machine in machines):
            return f"no host has the file {one.path}."
        if one.instance and (wrong := _no_instance(machines, known, one)):
            return wrong
    return ""


def _no_instance(machines: Sequence[Machine], known: Catalogue, one: Named) -> str:
    entry = known.get(one.name)
    labels = {
        "/".join(instance.label.split()): instance.label
        for machine in machines
        for instance in instances_of(machine, entry)
    }
    if any(one.is_of(one.name, label) for label in labels.values()):
        return ""
    there = sorted(filter(None, labels))
    near = difflib.get_close_matches(one.instance, there, n=3) or there[:_SHOWN]
    if near:
        return f"no host has {one.title}; there is {', '.join(f'{one.name}/{x}' for x in near)}."
    if labels:
        return f"no host has {one.title}: {one.name} is of the host as a whole."
    return f"no host has {one.title}, nor another {one.name}."
