"""Parse what a user asks to change: ``SETTING`` or ``SETTING/INSTANCE``, each with optional
``=VALUE``, a sysctl by name (``vm.dirty_bytes=0``), or a file below /proc/sys or /sys. Pure.
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
    """``name``: of a catalogue setting, "" for a plain file. ``value``: "" for the catalogue's
    value.
    """

    name: str
    instance: str = ""
    value: str = ""
    path: str = ""

    @property
    def title(self) -> str:
        return self.path or (f"{self.name}/{self.instance}" if self.instance else self.name)

    def is_of(self, name: str, label: str) -> bool:
        """Return whether the request covers the instance ``label`` of the setting ``name``."""
        return self.name == name and self.instance in ("", "/".join(label.split()))


def named_all(texts: Iterable[str], known: Catalogue) -> list[Named]:
    """Parse each of ``texts``. Raise ``BadInput`` if a text is invalid or a setting
    occurs twice.
    """
    requests = [named(text, known) for text in texts]
    titles = [request.title for request in requests]
    twice = next((title for title in titles if titles.count(title) > 1), "")
    if twice:
        raise BadInput(f"{twice} is given twice: give one value for it.")
    return requests


def named(text: str, known: Catalogue) -> Named:
    """Parse a text. Raise ``BadInput`` with the nearest setting if there is none of that name."""
    name, given, value = text.partition("=")
    if given and not _is_value(value):
        raise BadInput(f"{name[:100]}= needs a value of up to {_LONGEST} printable characters.")
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
    """Refuse words for numbers that the kernel reads; firmware and limits accept words for some."""
    at_once = setting.fix is not None and setting.fix.at_once
    if value and at_once and setting.form == "number" and not _NUMBER.fullmatch(value):
        raise BadInput(f"{setting.id} must be a number, not {value[:100]!r}.")


def _is_value(value: str) -> bool:
    return 0 < len(value) <= _LONGEST and value.isascii() and value.isprintable()


def _file(path: str, value: str, given: bool) -> Named:
    if not _FILE.fullmatch(path) or "/.." in path or "/./" in path:
        raise BadInput(f"{path[:200]!r} is not a file below /proc/sys or /sys.")
    if not given:
        raise BadInput(f"{path} is not a setting of the catalogue: give a value, {path}=VALUE.")
    return Named("", value=value, path=path)


_SHOWN = 8


def nowhere(machines: Sequence[Machine], known: Catalogue, asked: Sequence[Named]) -> str:
    """Return a sentence for the first file or instance that is known to be missing on every host;
    "" if there is none. It is fine if only some hosts have it.
    """
    for request in asked:
        if request.path and all(machine.facts.file(request.path).absent for machine in machines):
            return f"no host has the file {request.path}."
        if request.instance and (wrong := _no_instance(machines, known, request)):
            return wrong
    return ""


def _no_instance(machines: Sequence[Machine], known: Catalogue, request: Named) -> str:
    entry = known.get(request.name)
    labels = {
        "/".join(instance.label.split()): instance.label
        for machine in machines
        for instance in instances_of(machine, entry)
    }
    if any(request.is_of(request.name, label) for label in labels.values()):
        return ""
    there = sorted(filter(None, labels))
    near = difflib.get_close_matches(request.instance, there, n=3) or there[:_SHOWN]
    if near:
        listed = ", ".join(f"{request.name}/{label}" for label in near)
        return f"no host has {request.title}; there is {listed}."
    if labels:
        return f"no host has {request.title}: {request.name} applies to the host as a whole."
    return f"no host has {request.title}, nor another {request.name}."
